// What the optimizers have in common.
#pragma once

#include <cstddef>
#include <span>

namespace tensorplay::optim {

// One tensor to be optimised: its values and gradients, of equal length, owned by the caller, who
// keeps them in place as long as the optimizer lives.
struct Tensor {
  std::span<float> value;
  std::span<const float> gradient;
};

// Changes values by their gradients. Deterministic: the same values, gradients and history give the
// same bits. Not thread-safe.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // One step over all tensors.
  virtual void step() = 0;
  // Changes the learning rate from the next step on. Throws InvalidArgument unless it is finite and
  // not negative.
  virtual void set_learning_rate(double learning_rate) = 0;
  virtual double learning_rate() const noexcept = 0;
};

}  // namespace tensorplay::optim
