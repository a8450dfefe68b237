#include "tests/optim/trained_tensor.h"

#include <tensorplay/error.h>
#include <tensorplay/optim/sgd.h>

#include <boost/test/unit_test.hpp>
#include <limits>
#include <ostream>

namespace tensorplay::optim {

std::ostream& operator<<(std::ostream& out, const SGDOptions& options) {
  return out << "momentum " << options.momentum << ", dampening " << options.dampening
             << ", weight decay " << options.weight_decay << ", nesterov " << options.nesterov;
}

namespace {

// What a constant gradient of 1 makes of the value 1 in three steps.
std::vector<float> descend_three_times(SGDOptions options) {
  std::vector<float> value = {1.0F};
  const std::vector<float> gradient = {1.0F};
  SGD optimizer({{value, gradient}}, options);
  std::vector<float> path;
  for (int step = 0; step < 3; ++step) {
    optimizer.step();
    path.push_back(value[0]);
  }
  return path;
}

// torch.optim.SGD's rule for one number, restated in double: the velocity is born with the first
// gradient.
double descend(double value, std::size_t index, int steps, const SGDOptions& options) {
  bool born = false;
  double velocity = 0;
  for (int step = 0; step < steps; ++step) {
    double direction = TrainedTensor::gradient_at(index, step);
    direction += options.weight_decay * value;
    if (options.momentum != 0) {
      velocity =
          born ? options.momentum * velocity + (1 - options.dampening) * direction : direction;
      born = true;
      direction = options.nesterov ? direction + options.momentum * velocity : velocity;
    }
    value -= options.learning_rate * direction;
  }
  return value;
}

void expect_path(const std::vector<float>& path, const std::vector<double>& expected) {
  BOOST_TEST_REQUIRE(path.size() == expected.size());
  for (std::size_t i = 0; i < path.size(); ++i) BOOST_TEST(std::abs(path[i] - expected[i]) < 1e-6);
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

BOOST_AUTO_TEST_SUITE(sgd)

BOOST_AUTO_TEST_CASE(follows_the_gradient) {
  expect_path(descend_three_times({.learning_rate = 0.1}), {0.9, 0.8, 0.7});
}

BOOST_AUTO_TEST_CASE(gathers_momentum) {
  // Velocities 1, 1.9, 2.71.
  expect_path(descend_three_times({.learning_rate = 0.1, .momentum = 0.9}), {0.9, 0.71, 0.439});
}

BOOST_AUTO_TEST_CASE(does_not_damp_the_first_gradient) {
  // Velocities 1, 1.4, 1.76.
  expect_path(descend_three_times({.learning_rate = 0.1, .momentum = 0.9, .dampening = 0.5}),
              {0.9, 0.76, 0.584});
}

BOOST_AUTO_TEST_CASE(looks_ahead_with_nesterov) {
  // Steps of 1 + 0.9 * velocity: 1.9, 2.71, 3.439.
  expect_path(descend_three_times({.learning_rate = 0.1, .momentum = 0.9, .nesterov = true}),
              {0.81, 0.539, 0.1951});
}

BOOST_AUTO_TEST_CASE(decays_weights_through_the_gradient) {
  // Gradients of 1 + 0.5 * value: 1.5, 1.425, 1.35375.
  expect_path(descend_three_times({.learning_rate = 0.1, .weight_decay = 0.5}),
              {0.85, 0.7075, 0.572125});
}

const SGDOptions kTrajectories[] = {
    {.learning_rate = 0.05},
    {.learning_rate = 0.05, .weight_decay = 0.1},
    {.learning_rate = 0.05, .momentum = 0.9},
    {.learning_rate = 0.05, .momentum = 0.8, .dampening = 0.3, .weight_decay = 0.02},
    {.learning_rate = 0.05, .momentum = 0.9, .weight_decay = 0.02, .nesterov = true},
};

BOOST_AUTO_TEST_CASE(stays_on_the_trajectory_computed_in_double) {
  for (const auto& options : kTrajectories) {
    BOOST_TEST_CONTEXT(options) {
      TrainedTensor tensor(37);
      SGD optimizer({tensor.tensor()}, options);
      train(optimizer, tensor, 0, 50);
      for (std::size_t i = 0; i < tensor.value.size(); ++i) {
        const double expected = descend(TrainedTensor::start(i), i, 50, options);
        BOOST_TEST(std::abs(tensor.value[i] - expected) < 2e-5 * (1 + std::abs(expected)));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(has_state_of_the_same_shape_before_and_after_the_first_step) {
  TrainedTensor tensor(5);
  SGD optimizer({tensor.tensor(), {}}, {.momentum = 0.9});
  const auto before = optimizer.state();
  BOOST_TEST_REQUIRE(before.size() == 3U);
  BOOST_TEST(before[0].size() == 5U);
  BOOST_TEST(before[1].size() == 0U);
  train(optimizer, tensor, 0, 1);
  const auto after = optimizer.state();
  BOOST_TEST_REQUIRE(after.size() == before.size());
  for (std::size_t i = 0; i < after.size(); ++i) {
    BOOST_TEST(static_cast<void*>(after[i].data()) == static_cast<void*>(before[i].data()));
    BOOST_TEST(after[i].size() == before[i].size());
  }
}

BOOST_AUTO_TEST_CASE(keeps_nothing_but_the_number_of_steps_without_momentum) {
  TrainedTensor tensor(5);
  SGD optimizer({tensor.tensor()}, {});
  BOOST_TEST_REQUIRE(optimizer.state().size() == 1U);
  train(optimizer, tensor, 0, 3);
  BOOST_TEST(optimizer.state()[0][0] == 3.0F);
}

BOOST_AUTO_TEST_CASE(goes_on_with_the_same_bits_from_a_state_that_was_copied) {
  const SGDOptions options = {.momentum = 0.9, .dampening = 0.4, .weight_decay = 0.01};
  TrainedTensor tensor(33);
  SGD optimizer({tensor.tensor()}, options);
  train(optimizer, tensor, 0, 7);

  TrainedTensor late(33);
  SGD late_optimizer({late.tensor()}, options);  // has never stepped: its first step would not damp
  late.value = tensor.value;
  copy_state(optimizer, late_optimizer);
  train(optimizer, tensor, 7, 5);
  train(late_optimizer, late, 7, 5);
  BOOST_TEST(late.value == tensor.value, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(changes_its_learning_rate_from_the_next_step_on) {
  std::vector<float> value = {1.0F};
  const std::vector<float> gradient = {1.0F};
  SGD optimizer({{value, gradient}}, {.learning_rate = 0.5});
  optimizer.step();
  optimizer.set_learning_rate(0.25);
  BOOST_TEST(optimizer.learning_rate() == 0.25);
  optimizer.step();
  BOOST_TEST(value[0] == 0.25F);
  BOOST_CHECK_THROW(optimizer.set_learning_rate(-1), InvalidArgument);
  BOOST_CHECK_THROW(optimizer.set_learning_rate(kNan), InvalidArgument);
  BOOST_TEST(optimizer.learning_rate() == 0.25);
}

BOOST_AUTO_TEST_CASE(steps_over_no_tensors_at_all) {
  SGD optimizer({}, {.momentum = 0.9});
  optimizer.step();
  BOOST_TEST(optimizer.state().size() == 1U);
}

const SGDOptions kBadOptions[] = {
    {.learning_rate = -0.1},
    {.learning_rate = kNan},
    {.learning_rate = kInfinity},
    {.momentum = -0.5},
    {.momentum = kNan},
    {.dampening = kInfinity},
    {.weight_decay = -1},
    {.nesterov = true},
    {.momentum = 0.9, .dampening = 0.1, .nesterov = true},
};

BOOST_AUTO_TEST_CASE(refuses_options_that_cannot_work) {
  for (const auto& options : kBadOptions) {
    BOOST_TEST_CONTEXT(options) {
      BOOST_CHECK_THROW(SGD({}, options), InvalidArgument);
    }
  }
}

BOOST_AUTO_TEST_CASE(refuses_a_gradient_of_another_length_and_names_the_tensor) {
  std::vector<float> three(3);
  std::vector<float> four(4);
  BOOST_CHECK_EXCEPTION(
      SGD({{three, three}, {three, four}}, {}), InvalidArgument, [](const InvalidArgument& error) {
        return std::string(error.what()) == "SGD: tensor 1 has 3 values and 4 gradients";
      });
}

BOOST_AUTO_TEST_CASE(refuses_to_step_from_a_state_that_is_none) {
  TrainedTensor tensor(4);
  SGD optimizer({tensor.tensor()}, {.momentum = 0.9});
  optimizer.state().back()[0] = 0.5F;
  const auto before = tensor.value;
  BOOST_CHECK_THROW(optimizer.step(), InvalidArgument);
  BOOST_TEST(tensor.value == before, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::optim
