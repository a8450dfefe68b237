// What the optimizers have in common.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tensorplay::optim {

// One tensor to be optimised: its values and gradients, of equal length, owned by the caller, who
// keeps them in place as long as the optimizer lives.
struct Tensor {
  std::span<float> value;
  std::span<const float> gradient;
};

// Changes values by their gradients. Deterministic: the same values, gradients and history give the
// same bits. Not thread-safe. Not copied: a copy would step the same values a second time.
class Optimizer {
 public:
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer() = default;

  // One step over all tensors. Throws InvalidArgument, and changes nothing, if what was written
  // into state() is no count of steps.
  virtual void step() = 0;

  // The history: every tensor that step() carries from one call to the next, and the number of
  // steps (see step_count.h). All of it exists from construction on, so the spans have the same
  // number and lengths on every rank at any time, also on one that has never stepped. Reading the
  // spans saves the state; writing into them sets it. They stay valid, and in place, as long as the
  // optimizer.
  //
  // After a Join context the ranks hold the same model but have made different numbers of steps.
  // What makes them step alike again:
  //
  //     for (auto part : optimizer.state()) group.broadcast(part, model.authoritative_rank());
  //
  // The learning rate and the other options aren't part of it.
  virtual std::vector<std::span<float>> state() = 0;

  // Changes the learning rate from the next step on. Throws InvalidArgument unless it is finite and
  // not negative.
  virtual void set_learning_rate(double learning_rate) = 0;
  virtual double learning_rate() const noexcept = 0;

 protected:
  Optimizer() = default;
};

}  // namespace tensorplay::optim
