// The model: a perceptron with one hidden layer.
//
//     inputs -- hidden.weight, hidden.bias --> ReLU -- output.weight, output.bias --> softmax
//
// The loss of an example is the cross-entropy: minus the logarithm of the probability that the
// network gives to the example's class.
#pragma once

#include "tools/train/examples.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tensorplay::train {

struct NetworkShape {
  std::size_t inputs = 0;
  std::size_t hidden = 0;
  std::size_t classes = 0;
};

// How well a network does on some examples, as sums, which ranks can add up.
struct Score {
  double loss = 0;           // of all examples together
  std::int64_t correct = 0;  // examples whose class is the most probable one
};

// Weights, gradients and the two passes. Stays where it is made: the spans it hands out point into
// it. Deterministic. Not thread-safe.
class Network {
 public:
  // One tensor of weights, with its gradient, both owned by the network.
  struct Tensor {
    std::string name;
    std::span<float> value;
    std::span<float> gradient;
  };

  // Weights are drawn evenly from +-sqrt(6 / inputs of the layer) (He et al. 2015), biases are
  // zero: the same seed and shape, the same network. No size may be zero.
  Network(NetworkShape shape, std::uint64_t seed);
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  // hidden.weight, hidden.bias, output.weight, output.bias. Weights are stored input by input.
  std::vector<Tensor> tensors();

  // Writes the gradients of `weight` times the sum of the losses of `examples`, calling
  // ready(index of the tensor) as soon as each is complete: the last tensor first.
  void compute_gradients(const Examples& examples, float weight,
                         const std::function<void(std::size_t)>& ready);

  Score score(const Examples& examples) const;

 private:
  // Values or gradients: one vector per tensor, in the order of tensors().
  struct Layers {
    explicit Layers(NetworkShape shape);
    std::vector<float> hidden_weight, hidden_bias, output_weight, output_bias;
  };
  struct Activations {
    Matrix hidden;  // after the ReLU
    Matrix logits;
  };
  Activations forward(const Matrix& inputs) const;

  NetworkShape shape_;
  Layers values_;
  Layers gradients_;
};

}  // namespace tensorplay::train
