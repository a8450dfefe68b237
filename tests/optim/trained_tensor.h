// A tensor for optimizers to work on, and the gradients that a test feeds it.
#pragma once

#include <tensorplay/optim/optimizer.h>

#include <cmath>
#include <cstddef>
#include <vector>

namespace tensorplay::optim {

struct TrainedTensor {
  explicit TrainedTensor(std::size_t count) : value(count), gradient(count) {
    for (std::size_t i = 0; i < count; ++i) value[i] = start(i);
  }

  // Values of both signs and several magnitudes, the same in every run.
  static float start(std::size_t i) {
    return static_cast<float>(std::sin(1.0 + 7.0 * i) * (1 + i % 5));
  }
  static float gradient_at(std::size_t i, int step) {
    return static_cast<float>(std::cos(0.3 * static_cast<double>(i) + 1.7 * step) *
                              (step % 3 + 0.01));
  }

  void take_gradients(int step) {
    for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = gradient_at(i, step);
  }
  Tensor tensor() { return {value, gradient}; }

  std::vector<float> value;
  std::vector<float> gradient;
};

// One step after the other, from `first_step` on.
inline void train(Optimizer& optimizer, TrainedTensor& tensor, int first_step, int count) {
  for (int step = first_step; step < first_step + count; ++step) {
    tensor.take_gradients(step);
    optimizer.step();
  }
}

// What broadcasting the state from one optimizer to the other does.
inline void copy_state(Optimizer& source, Optimizer& destination) {
  const auto from = source.state();
  const auto to = destination.state();
  for (std::size_t part = 0; part < from.size(); ++part) {
    for (std::size_t i = 0; i < from[part].size(); ++i) to[part][i] = from[part][i];
  }
}

}  // namespace tensorplay::optim
