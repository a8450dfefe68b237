// Adam and AdamW.
#pragma once

#include <tensorplay/optim/optimizer.h>
#include <tensorplay/optim/step_count.h>

#include <span>
#include <utility>
#include <vector>

namespace tensorplay::optim {

struct AdamOptions {
  double learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.0;  // Adam adds it to the gradient; AdamW shrinks the value by it
};

// Kingma and Ba, "Adam: a method for stochastic optimization" (2015), with bias correction:
// value := value - learning_rate * m_hat / (sqrt(v_hat) + epsilon). As torch.optim.Adam.
class Adam : public Optimizer {
 public:
  // Throws InvalidArgument for a value out of its range or tensors of unequal length.
  Adam(std::vector<Tensor> tensors, AdamOptions options);
  void step() override;
  // The first and the second moment of each tensor in turn, then the number of steps.
  std::vector<std::span<float>> state() override;
  void set_learning_rate(double learning_rate) override;
  double learning_rate() const noexcept override { return options_.learning_rate; }

 protected:
  enum class Decay { in_gradient, decoupled };
  Adam(std::vector<Tensor> tensors, AdamOptions options, Decay decay);

 private:
  struct Moments {
    std::vector<float> first;
    std::vector<float> second;
  };
  struct Scale;  // what one step multiplies by
  void step_tensor(const Tensor& tensor, Moments& moments, const Scale& scale) const;

  std::vector<Tensor> tensors_;
  AdamOptions options_;
  Decay decay_;
  std::vector<Moments> moments_;  // one per tensor
  StepCount steps_;
};

// Loshchilov and Hutter, "Decoupled weight decay regularization" (2019): the decay shrinks the
// value itself by learning_rate * weight_decay. As torch.optim.AdamW, but for the default: no decay
// unless asked for.
class AdamW : public Adam {
 public:
  AdamW(std::vector<Tensor> tensors, AdamOptions options)
      : Adam(std::move(tensors), options, Decay::decoupled) {}
};

}  // namespace tensorplay::optim
