#include <tensorplay/optim/adam.h>

#include "lib/optim/argument_checks.h"

#include <cmath>

namespace tensorplay::optim {

namespace {

void check(const AdamOptions& options) {
  expect_not_negative("Adam", "learning_rate", options.learning_rate);
  expect_decay_rate("Adam", "beta1", options.beta1);
  expect_decay_rate("Adam", "beta2", options.beta2);
  expect_not_negative("Adam", "epsilon", options.epsilon);
  expect_not_negative("Adam", "weight_decay", options.weight_decay);
}

}  // namespace

// Taken in double once per step, so that the correction of the bias doesn't lose its digits where
// 1 - beta^steps is small.
struct Adam::Scale {
  float keep_first, take_first;    // of the first moment and of the gradient
  float keep_second, take_second;  // of the second moment and of the gradient's square
  float rate;                      // the learning rate, corrected for the first moment's bias
  float root_of_bias;              // of the second moment
  float epsilon;
  float gradient_decay;  // of the value, added to the gradient
  float value_keep;      // of the value itself
};

Adam::Adam(std::vector<Tensor> tensors, AdamOptions options)
    : Adam(std::move(tensors), options, Decay::in_gradient) {}

Adam::Adam(std::vector<Tensor> tensors, AdamOptions options, Decay decay)
    : tensors_(std::move(tensors)), options_(options), decay_(decay) {
  check(options_);
  expect_equal_lengths("Adam", tensors_);
  moments_.reserve(tensors_.size());
  for (const Tensor& tensor : tensors_) {
    const std::size_t count = tensor.value.size();
    moments_.push_back({std::vector<float>(count), std::vector<float>(count)});
  }
}

void Adam::step() {
  steps_.increment();
  const auto steps = static_cast<double>(steps_.value());
  const double first_bias = 1.0 - std::pow(options_.beta1, steps);
  const double second_bias = 1.0 - std::pow(options_.beta2, steps);
  const bool decoupled = decay_ == Decay::decoupled;
  const Scale scale = {
      .keep_first = static_cast<float>(options_.beta1),
      .take_first = static_cast<float>(1.0 - options_.beta1),
      .keep_second = static_cast<float>(options_.beta2),
      .take_second = static_cast<float>(1.0 - options_.beta2),
      .rate = static_cast<float>(options_.learning_rate / first_bias),
      .root_of_bias = static_cast<float>(std::sqrt(second_bias)),
      .epsilon = static_cast<float>(options_.epsilon),
      .gradient_decay = decoupled ? 0.0F : static_cast<float>(options_.weight_decay),
      .value_keep = decoupled
                        ? static_cast<float>(1.0 - options_.learning_rate * options_.weight_decay)
                        : 1.0F,
  };
  for (std::size_t i = 0; i < tensors_.size(); ++i) step_tensor(tensors_[i], moments_[i], scale);
}

void Adam::step_tensor(const Tensor& tensor, Moments& moments, const Scale& scale) const {
  for (std::size_t i = 0; i < tensor.value.size(); ++i) {
    float& first = moments.first[i];
    float& second = moments.second[i];
    const float gradient = tensor.gradient[i] + scale.gradient_decay * tensor.value[i];
    first = scale.keep_first * first + scale.take_first * gradient;
    second = scale.keep_second * second + scale.take_second * gradient * gradient;
    const float denominator = std::sqrt(second) / scale.root_of_bias + scale.epsilon;
    tensor.value[i] = scale.value_keep * tensor.value[i] - scale.rate * (first / denominator);
  }
}

std::vector<std::span<float>> Adam::state() {
  std::vector<std::span<float>> parts;
  parts.reserve(2 * moments_.size() + 1);
  for (Moments& moments : moments_) {
    parts.emplace_back(moments.first);
    parts.emplace_back(moments.second);
  }
  parts.push_back(steps_.digits());
  return parts;
}

void Adam::set_learning_rate(double learning_rate) {
  expect_not_negative("Adam", "learning_rate", learning_rate);
  options_.learning_rate = learning_rate;
}

}  // namespace tensorplay::optim
