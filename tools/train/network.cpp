#include "tools/train/network.h"

#include "tools/train/seeded_random.h"

#include <cassert>
#include <cmath>

namespace tensorplay::train {
namespace {

using Row = Eigen::Matrix<float, 1, Eigen::Dynamic>;

// A layer's weights as a matrix: one row per input, one column per output.
Eigen::Map<const Matrix> matrix(const std::vector<float>& weights, std::size_t outputs) {
  return {weights.data(), static_cast<Eigen::Index>(weights.size() / outputs),
          static_cast<Eigen::Index>(outputs)};
}
Eigen::Map<Matrix> matrix(std::vector<float>& weights, std::size_t outputs) {
  return {weights.data(), static_cast<Eigen::Index>(weights.size() / outputs),
          static_cast<Eigen::Index>(outputs)};
}
Eigen::Map<const Row> row(const std::vector<float>& bias) {
  return {bias.data(), static_cast<Eigen::Index>(bias.size())};
}
Eigen::Map<Row> row(std::vector<float>& bias) {
  return {bias.data(), static_cast<Eigen::Index>(bias.size())};
}

void draw_weights(std::vector<float>& weights, std::size_t inputs, SeededRandom& random) {
  const float bound = std::sqrt(6.0f / static_cast<float>(inputs));
  for (float& weight : weights) weight = random.symmetric(bound);
}

// Turns each row into exponentials relative to the row's greatest, which can't overflow, and gives
// the sum of each row.
Eigen::VectorXf exponentiate(Matrix& logits) {
  logits.colwise() -= logits.rowwise().maxCoeff().eval();
  logits = logits.array().exp().matrix();
  return logits.rowwise().sum();
}

}  // namespace

Network::Layers::Layers(NetworkShape shape)
    : hidden_weight(shape.inputs * shape.hidden),
      hidden_bias(shape.hidden),
      output_weight(shape.hidden * shape.classes),
      output_bias(shape.classes) {}

Network::Network(NetworkShape shape, std::uint64_t seed)
    : shape_(shape), values_(shape), gradients_(shape) {
  assert(shape.inputs > 0 && shape.hidden > 0 && shape.classes > 0);
  SeededRandom random(seed, Purpose::weights);
  draw_weights(values_.hidden_weight, shape.inputs, random);
  draw_weights(values_.output_weight, shape.hidden, random);
}

std::vector<Network::Tensor> Network::tensors() {
  return {{"hidden.weight", values_.hidden_weight, gradients_.hidden_weight},
          {"hidden.bias", values_.hidden_bias, gradients_.hidden_bias},
          {"output.weight", values_.output_weight, gradients_.output_weight},
          {"output.bias", values_.output_bias, gradients_.output_bias}};
}

Network::Activations Network::forward(const Matrix& inputs) const {
  Activations activations;
  activations.hidden = inputs * matrix(values_.hidden_weight, shape_.hidden);
  activations.hidden.rowwise() += row(values_.hidden_bias);
  activations.hidden = activations.hidden.cwiseMax(0.0f);
  activations.logits = activations.hidden * matrix(values_.output_weight, shape_.classes);
  activations.logits.rowwise() += row(values_.output_bias);
  return activations;
}

void Network::compute_gradients(const Examples& examples, float weight,
                                const std::function<void(std::size_t)>& ready) {
  Activations activations = forward(examples.inputs);

  // The loss by the logits: the probabilities, less one at the example's class.
  Matrix& delta = activations.logits;
  const Eigen::VectorXf sums = exponentiate(delta);
  delta.array().colwise() /= sums.array();
  for (std::size_t i = 0; i < examples.count(); ++i) {
    delta(static_cast<Eigen::Index>(i), examples.classes[i]) -= 1.0f;
  }
  delta *= weight;
  row(gradients_.output_bias) = delta.colwise().sum();
  ready(3);
  matrix(gradients_.output_weight, shape_.classes) = activations.hidden.transpose() * delta;
  ready(2);

  Matrix hidden_delta = delta * matrix(values_.output_weight, shape_.classes).transpose();
  hidden_delta = (activations.hidden.array() > 0.0f).select(hidden_delta, 0.0f);
  row(gradients_.hidden_bias) = hidden_delta.colwise().sum();
  ready(1);
  matrix(gradients_.hidden_weight, shape_.hidden) = examples.inputs.transpose() * hidden_delta;
  ready(0);
}

Score Network::score(const Examples& examples) const {
  Score score;
  Matrix logits = forward(examples.inputs).logits;
  std::vector<Eigen::Index> likeliest(examples.count());
  for (std::size_t i = 0; i < examples.count(); ++i) {
    logits.row(static_cast<Eigen::Index>(i)).maxCoeff(&likeliest[i]);
  }
  const Matrix raw = logits;
  const Eigen::VectorXf sums = exponentiate(logits);
  for (std::size_t i = 0; i < examples.count(); ++i) {
    const auto line = static_cast<Eigen::Index>(i);
    const double above = raw(line, likeliest[i]) - raw(line, examples.classes[i]);
    score.loss += std::log(static_cast<double>(sums[line])) + above;
    score.correct += likeliest[i] == examples.classes[i] ? 1 : 0;
  }
  return score;
}

}  // namespace tensorplay::train
