// Stochastic gradient descent with momentum.
#pragma once

#include <tensorplay/optim/optimizer.h>
#include <tensorplay/optim/step_count.h>

#include <span>
#include <vector>

namespace tensorplay::optim {

struct SGDOptions {
  double learning_rate = 0.01;
  double momentum = 0.0;      // 0: none
  double dampening = 0.0;     // the velocity takes (1 - dampening) * gradient
  double weight_decay = 0.0;  // adds weight_decay * value to the gradient
  bool nesterov = false;      // needs momentum > 0 and dampening == 0
};

// velocity := momentum * velocity + (1 - dampening) * g,  g = gradient + weight_decay * value
// value    := value - learning_rate * velocity            (nesterov: of g + momentum * velocity)
// The first step takes velocity := g. As torch.optim.SGD.
class SGD : public Optimizer {
 public:
  // Throws InvalidArgument for a value out of its range or tensors of unequal length.
  SGD(std::vector<Tensor> tensors, SGDOptions options);
  void step() override;
  // One velocity per tensor (none without momentum), then the number of steps.
  std::vector<std::span<float>> state() override;
  void set_learning_rate(double learning_rate) override;
  double learning_rate() const noexcept override { return options_.learning_rate; }

 private:
  void step_tensor(const Tensor& tensor, std::span<float> velocity, bool first) const;

  std::vector<Tensor> tensors_;
  SGDOptions options_;
  std::vector<std::vector<float>> velocities_;  // one per tensor; empty without momentum
  StepCount steps_;
};

}  // namespace tensorplay::optim
