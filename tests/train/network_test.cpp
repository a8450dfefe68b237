#include "tools/train/network.h"

#include "tools/train/seeded_random.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>

namespace tensorplay::train {
namespace {

constexpr NetworkShape kShape{5, 7, 3};

Examples random_examples(std::size_t count, std::uint64_t seed) {
  SeededRandom random(seed, Purpose::split);
  Examples examples;
  examples.inputs.resize(static_cast<Eigen::Index>(count), kShape.inputs);
  for (float& input : examples.inputs.reshaped()) input = random.symmetric(1.0f);
  for (std::size_t i = 0; i < count; ++i) {
    examples.classes.push_back(static_cast<int>(random.below(kShape.classes)));
  }
  return examples;
}

void ignore(std::size_t) {}

BOOST_AUTO_TEST_SUITE(network)

BOOST_AUTO_TEST_CASE(gradients_are_the_slopes_of_the_loss) {
  Network network(kShape, 1);
  const Examples examples = random_examples(9, 2);
  constexpr float kWeight = 0.25f, kStep = 1e-3f;
  network.compute_gradients(examples, kWeight, ignore);
  for (const Network::Tensor& tensor : network.tensors()) {
    for (std::size_t i = 0; i < tensor.value.size(); ++i) {
      const float before = tensor.value[i];
      const float above = before + kStep, below = before - kStep;
      tensor.value[i] = above;
      const double loss_above = network.score(examples).loss;
      tensor.value[i] = below;
      const double loss_below = network.score(examples).loss;
      tensor.value[i] = before;
      const double slope = kWeight * (loss_above - loss_below) / (above - below);
      BOOST_TEST(std::abs(slope - tensor.gradient[i]) < 2e-3, tensor.name << "[" << i << "]: slope "
                                                                          << slope << ", gradient "
                                                                          << tensor.gradient[i]);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_gradient_is_the_sum_of_its_rows_gradients) {
  Network network(kShape, 1);
  const Examples examples = random_examples(6, 3);
  std::vector<double> sum(kShape.inputs * kShape.hidden);
  const std::span<float> gradient = network.tensors()[0].gradient;
  for (std::size_t row = 0; row < examples.count(); ++row) {
    network.compute_gradients(examples.rows(std::span(&row, 1)), 1.0f, ignore);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += gradient[i];
  }
  network.compute_gradients(examples, 1.0f, ignore);
  for (std::size_t i = 0; i < sum.size(); ++i) BOOST_TEST(std::abs(sum[i] - gradient[i]) < 1e-5);
}

BOOST_AUTO_TEST_CASE(each_tensor_is_told_ready_once_the_last_first) {
  Network network(kShape, 1);
  std::vector<std::size_t> ready;
  network.compute_gradients(random_examples(2, 2), 1.0f,
                            [&](std::size_t tensor) { ready.push_back(tensor); });
  BOOST_TEST(ready == (std::vector<std::size_t>{3, 2, 1, 0}));
}

BOOST_AUTO_TEST_CASE(a_tensor_is_complete_when_it_is_told_ready) {
  Network network(kShape, 1);
  const Examples examples = random_examples(4, 2);
  const auto tensors = network.tensors();
  std::vector<std::vector<float>> when_ready(tensors.size());
  network.compute_gradients(examples, 1.0f, [&](std::size_t tensor) {
    when_ready[tensor].assign(tensors[tensor].gradient.begin(), tensors[tensor].gradient.end());
  });
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    BOOST_TEST(std::ranges::equal(when_ready[i], tensors[i].gradient));
  }
}

BOOST_AUTO_TEST_CASE(without_weights_every_class_is_as_probable) {
  Network network(kShape, 1);
  for (const Network::Tensor& tensor : network.tensors()) std::ranges::fill(tensor.value, 0.0f);
  const Score score = network.score(random_examples(10, 2));
  BOOST_TEST(std::abs(score.loss - 10 * std::log(3.0)) < 1e-5);
}

BOOST_AUTO_TEST_CASE(a_huge_logit_overflows_nothing) {
  Network network(kShape, 1);
  network.tensors()[3].value[1] = 1e30f;
  const Examples examples = random_examples(10, 2);
  const Score score = network.score(examples);
  BOOST_TEST(std::isfinite(score.loss));
  BOOST_TEST(score.correct == std::ranges::count(examples.classes, 1));
}

BOOST_AUTO_TEST_CASE(no_examples_score_nothing) {
  const Score score = Network(kShape, 1).score(random_examples(0, 1));
  BOOST_TEST(score.loss == 0.0);
  BOOST_TEST(score.correct == 0);
}

BOOST_AUTO_TEST_CASE(a_seed_names_one_network) {
  Network first(kShape, 1), again(kShape, 1), other(kShape, 2);
  BOOST_TEST(std::ranges::equal(first.tensors()[0].value, again.tensors()[0].value));
  BOOST_TEST(!std::ranges::equal(first.tensors()[0].value, other.tensors()[0].value));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::train
