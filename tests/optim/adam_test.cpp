#include "tests/optim/trained_tensor.h"

#include <tensorplay/error.h>
#include <tensorplay/optim/adam.h>

#include <boost/test/unit_test.hpp>
#include <limits>
#include <memory>
#include <ostream>

namespace tensorplay::optim {

std::ostream& operator<<(std::ostream& out, const AdamOptions& options) {
  return out << "learning rate " << options.learning_rate << ", beta1 " << options.beta1
             << ", beta2 " << options.beta2 << ", weight decay " << options.weight_decay;
}

namespace {

enum class Kind { adam, adamw };

std::unique_ptr<Optimizer> make(Kind kind, std::vector<Tensor> tensors, AdamOptions options) {
  if (kind == Kind::adam) return std::make_unique<Adam>(std::move(tensors), options);
  return std::make_unique<AdamW>(std::move(tensors), options);
}

// Where the value 1 is after steps with these gradients.
float descend_from_one(Kind kind, const std::vector<float>& gradients, AdamOptions options) {
  std::vector<float> value = {1.0F};
  std::vector<float> gradient = {0.0F};
  const auto optimizer = make(kind, {{value, gradient}}, options);
  for (float g : gradients) {
    gradient[0] = g;
    optimizer->step();
  }
  return value[0];
}

// Algorithm 1 of the paper for one number, restated in double, in the paper's own order: corrected
// moments first, then the step.
double descend(Kind kind, double value, std::size_t index, int steps, const AdamOptions& options) {
  double m = 0;
  double v = 0;
  for (int t = 1; t <= steps; ++t) {
    double g = TrainedTensor::gradient_at(index, t - 1);
    if (kind == Kind::adam) g += options.weight_decay * value;
    m = options.beta1 * m + (1 - options.beta1) * g;
    v = options.beta2 * v + (1 - options.beta2) * g * g;
    const double m_hat = m / (1 - std::pow(options.beta1, t));
    const double v_hat = v / (1 - std::pow(options.beta2, t));
    const double decay =
        kind == Kind::adamw ? options.learning_rate * options.weight_decay * value : 0;
    value -= decay + options.learning_rate * m_hat / (std::sqrt(v_hat) + options.epsilon);
  }
  return value;
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

BOOST_AUTO_TEST_SUITE(adam)

BOOST_AUTO_TEST_CASE(moves_by_the_learning_rate_in_the_first_step_whatever_the_gradient) {
  for (float gradient : {1e-3F, 1.0F, 1e4F}) {
    const float value = descend_from_one(Kind::adam, {gradient}, {.learning_rate = 0.1});
    BOOST_TEST(std::abs(value - 0.9) < 2e-6);
  }
}

BOOST_AUTO_TEST_CASE(turns_round_slowly) {
  // m: 0.1, -0.01; corrected by 0.1 and 0.19. v: 0.001, 0.001999; corrected both times to 1.
  const float value = descend_from_one(Kind::adam, {1.0F, -1.0F}, {.learning_rate = 0.1});
  BOOST_TEST(std::abs(value - (0.9 + 0.1 * 0.01 / 0.19)) < 2e-6);
}

BOOST_AUTO_TEST_CASE(decays_through_the_gradient_but_adamw_shrinks_the_value) {
  const AdamOptions options = {.learning_rate = 0.1, .weight_decay = 0.1};
  BOOST_TEST(std::abs(descend_from_one(Kind::adam, {1.0F}, options) - 0.9) < 2e-6);
  BOOST_TEST(std::abs(descend_from_one(Kind::adamw, {1.0F}, options) - 0.89) < 2e-6);
}

BOOST_AUTO_TEST_CASE(is_adamw_without_decay) {
  const std::vector<float> gradients = {1.0F, -0.5F, 0.25F, 3.0F};
  BOOST_TEST(descend_from_one(Kind::adam, gradients, {}) ==
             descend_from_one(Kind::adamw, gradients, {}));
}

const AdamOptions kTrajectories[] = {
    {.learning_rate = 0.01},
    {.learning_rate = 0.01, .weight_decay = 0.05},
    {.learning_rate = 0.02, .beta1 = 0.8, .beta2 = 0.99, .epsilon = 1e-6, .weight_decay = 0.01},
    {.learning_rate = 0.01, .beta1 = 0.0},
};

BOOST_AUTO_TEST_CASE(stays_on_the_trajectory_computed_in_double) {
  for (const auto& options : kTrajectories) {
    BOOST_TEST_CONTEXT(options) {
      for (const Kind kind : {Kind::adam, Kind::adamw}) {
        TrainedTensor tensor(37);
        const auto optimizer = make(kind, {tensor.tensor()}, options);
        train(*optimizer, tensor, 0, 60);
        for (std::size_t i = 0; i < tensor.value.size(); ++i) {
          const double expected = descend(kind, TrainedTensor::start(i), i, 60, options);
          BOOST_TEST(std::abs(tensor.value[i] - expected) < 5e-5 * (1 + std::abs(expected)));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(has_state_of_the_same_shape_before_and_after_the_first_step) {
  TrainedTensor tensor(5);
  Adam optimizer({tensor.tensor(), {}}, {});
  const auto before = optimizer.state();
  BOOST_TEST_REQUIRE(before.size() == 5U);  // two moments of two tensors, and the steps
  train(optimizer, tensor, 0, 1);
  const auto after = optimizer.state();
  BOOST_TEST_REQUIRE(after.size() == before.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    BOOST_TEST(static_cast<void*>(after[i].data()) == static_cast<void*>(before[i].data()));
    BOOST_TEST(after[i].size() == before[i].size());
  }
}

BOOST_AUTO_TEST_CASE(goes_on_with_the_same_bits_from_a_state_that_was_copied) {
  for (const Kind kind : {Kind::adam, Kind::adamw}) {
    TrainedTensor tensor(33);
    const auto optimizer = make(kind, {tensor.tensor()}, {.weight_decay = 0.01});
    train(*optimizer, tensor, 0, 7);

    TrainedTensor late(33);
    const auto late_optimizer = make(kind, {late.tensor()}, {.weight_decay = 0.01});
    train(*late_optimizer, late, 0, 2);
    late.value = tensor.value;
    copy_state(*optimizer, *late_optimizer);
    train(*optimizer, tensor, 7, 5);
    train(*late_optimizer, late, 7, 5);
    BOOST_TEST(late.value == tensor.value, boost::test_tools::per_element());
  }
}

const AdamOptions kBadOptions[] = {
    {.learning_rate = -1}, {.learning_rate = kNan}, {.beta1 = 1.0},
    {.beta1 = -0.1},       {.beta2 = 1.0},          {.beta2 = kNan},
    {.epsilon = -1e-8},    {.epsilon = kNan},       {.weight_decay = -1},
};

BOOST_AUTO_TEST_CASE(refuses_options_that_cannot_work) {
  for (const auto& options : kBadOptions) {
    BOOST_TEST_CONTEXT(options) {
      BOOST_CHECK_THROW(Adam({}, options), InvalidArgument);
      BOOST_CHECK_THROW(AdamW({}, options), InvalidArgument);
    }
  }
}

BOOST_AUTO_TEST_CASE(refuses_a_gradient_of_another_length) {
  std::vector<float> three(3);
  std::vector<float> four(4);
  BOOST_CHECK_THROW(Adam({{three, four}}, {}), InvalidArgument);
}

BOOST_AUTO_TEST_CASE(changes_its_learning_rate_from_the_next_step_on) {
  std::vector<float> value = {1.0F};
  const std::vector<float> gradient = {1.0F};
  Adam optimizer({{value, gradient}}, {.learning_rate = 0.5});
  optimizer.step();
  optimizer.set_learning_rate(0.25);
  optimizer.step();
  BOOST_TEST(std::abs(value[0] - 0.25) < 2e-6);
  BOOST_CHECK_THROW(optimizer.set_learning_rate(kNan), InvalidArgument);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::optim
