#include <tensorplay/optim/sgd.h>

#include "lib/optim/argument_checks.h"

#include <tensorplay/error.h>

#include <utility>

namespace tensorplay::optim {

namespace {

void check(const SGDOptions& options) {
  expect_not_negative("SGD", "learning_rate", options.learning_rate);
  expect_not_negative("SGD", "momentum", options.momentum);
  expect_finite("SGD", "dampening", options.dampening);
  expect_not_negative("SGD", "weight_decay", options.weight_decay);
  if (options.nesterov && (options.momentum == 0 || options.dampening != 0)) {
    throw InvalidArgument("SGD: nesterov needs a momentum above 0 and no dampening");
  }
}

}  // namespace

SGD::SGD(std::vector<Tensor> tensors, SGDOptions options)
    : tensors_(std::move(tensors)), options_(options) {
  check(options_);
  expect_equal_lengths("SGD", tensors_);
  if (options_.momentum == 0) return;
  velocities_.reserve(tensors_.size());
  for (const Tensor& tensor : tensors_) velocities_.emplace_back(tensor.value.size());
}

void SGD::step() {
  const bool first = steps_.value() == 0;
  steps_.increment();
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    step_tensor(tensors_[i], velocities_.empty() ? std::span<float>() : velocities_[i], first);
  }
}

void SGD::step_tensor(const Tensor& tensor, std::span<float> velocity, bool first) const {
  const auto rate = static_cast<float>(options_.learning_rate);
  const auto decay = static_cast<float>(options_.weight_decay);
  const auto momentum = static_cast<float>(options_.momentum);
  // The first gradient becomes the velocity undamped, as nothing is there to be kept in proportion.
  const auto intake = first ? 1.0F : static_cast<float>(1.0 - options_.dampening);

  for (std::size_t i = 0; i < tensor.value.size(); ++i) {
    float change = tensor.gradient[i] + decay * tensor.value[i];
    if (!velocity.empty()) {
      velocity[i] = momentum * velocity[i] + intake * change;
      change = options_.nesterov ? change + momentum * velocity[i] : velocity[i];
    }
    tensor.value[i] -= rate * change;
  }
}

std::vector<std::span<float>> SGD::state() {
  std::vector<std::span<float>> parts(velocities_.begin(), velocities_.end());
  parts.push_back(steps_.digits());
  return parts;
}

void SGD::set_learning_rate(double learning_rate) {
  expect_not_negative("SGD", "learning_rate", learning_rate);
  options_.learning_rate = learning_rate;
}

}  // namespace tensorplay::optim
