#include "tools/train/dataset.h"

#include "tests/train/thrown_message.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

namespace tensorplay::train {
namespace {

// `count` rows whose only input is 1, 2, ...
Examples numbered(std::size_t count) {
  Examples examples;
  examples.inputs.resize(static_cast<Eigen::Index>(count), 1);
  for (std::size_t i = 0; i < count; ++i) {
    examples.inputs(static_cast<Eigen::Index>(i), 0) = static_cast<float>(i + 1);
    examples.classes.push_back(static_cast<int>(i % 3));
  }
  return examples;
}

std::vector<float> sorted_inputs(const Dataset& dataset) {
  std::vector<float> inputs(dataset.training.inputs.data(),
                            dataset.training.inputs.data() + dataset.training.inputs.size());
  inputs.insert(inputs.end(), dataset.test.inputs.data(),
                dataset.test.inputs.data() + dataset.test.inputs.size());
  std::ranges::sort(inputs);
  return inputs;
}

BOOST_AUTO_TEST_SUITE(dataset)

BOOST_AUTO_TEST_CASE(four_fifths_are_for_training_and_no_row_is_lost_or_doubled) {
  const Dataset divided = divide(numbered(101), 1);
  BOOST_TEST(divided.training.count() == 81u);
  BOOST_TEST(divided.test.count() == 20u);
  BOOST_TEST(divided.class_count == 3);
  const std::vector<float> inputs = sorted_inputs(divided);
  BOOST_TEST((std::ranges::adjacent_find(inputs) == inputs.end()));
}

BOOST_AUTO_TEST_CASE(inputs_are_scaled_by_the_greatest_of_the_training_rows) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Dataset divided = divide(numbered(10), seed);
    BOOST_TEST(divided.training.inputs.maxCoeff() == 1.0f);
    BOOST_TEST(divided.training.inputs.minCoeff() > 0.0f);
  }
}

BOOST_AUTO_TEST_CASE(negative_inputs_count_by_their_magnitude_and_zeros_stay) {
  Examples examples = numbered(10);
  examples.inputs *= -1.0f;
  BOOST_TEST(divide(examples, 1).training.inputs.minCoeff() == -1.0f);
  examples.inputs.setZero();
  BOOST_TEST(divide(examples, 1).training.inputs.cwiseAbs().maxCoeff() == 0.0f);
}

BOOST_AUTO_TEST_CASE(a_seed_names_one_division) {
  const Dataset first = divide(numbered(100), 7), again = divide(numbered(100), 7);
  BOOST_TEST((first.training.inputs == again.training.inputs));
  BOOST_TEST(first.test.classes == again.test.classes);
  BOOST_TEST((first.training.inputs != divide(numbered(100), 8).training.inputs));
}

BOOST_AUTO_TEST_CASE(two_rows_are_the_least) {
  BOOST_TEST(divide(numbered(2), 1).training.count() == 1u);
  BOOST_TEST(divide(numbered(2), 1).test.count() == 1u);
  BOOST_TEST(thrown_message([] { divide(numbered(1), 1); }) ==
             "the data has one row only; one to train with and one to test are the least");
}

BOOST_AUTO_TEST_CASE(the_parts_of_all_ranks_cover_each_row_once) {
  const Examples all = numbered(10);
  for (int rank_count : {1, 3, 10, 13}) {
    std::vector<int> classes;
    std::size_t most = 0, least = all.count();
    for (int rank = 0; rank < rank_count; ++rank) {
      const Examples part = all.part(rank, rank_count);
      classes.insert(classes.end(), part.classes.begin(), part.classes.end());
      most = std::max(most, part.count());
      least = std::min(least, part.count());
    }
    BOOST_TEST(classes == all.classes);
    BOOST_TEST(most - least <= 1u);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::train
