// What is told of many samples.

#include "tools/tpbench/statistics.h"

#include <boost/test/unit_test.hpp>
#include <vector>

namespace tensorplay::tpbench {
namespace {

BOOST_AUTO_TEST_SUITE(statistics)

BOOST_AUTO_TEST_CASE(the_median_is_the_one_in_the_middle_or_the_mean_of_two) {
  BOOST_TEST(median({3, 1, 2}) == 2);
  BOOST_TEST(median({4, 1, 3, 2}) == 2.5);
  BOOST_TEST(median({7}) == 7);
}

BOOST_AUTO_TEST_CASE(a_hundredth_of_the_samples_exceeds_the_p99) {
  std::vector<double> samples;
  for (int i = 200; i >= 1; --i) samples.push_back(i);
  const Summary summary = summarise(samples);
  BOOST_TEST(summary.min == 1);
  BOOST_TEST(summary.median == 100.5);
  BOOST_TEST(summary.p99 == 198);
  BOOST_TEST(summary.max == 200);
}

BOOST_AUTO_TEST_CASE(of_few_samples_the_p99_is_the_greatest) {
  const Summary summary = summarise({2, 5, 3});
  BOOST_TEST(summary.p99 == 5);
  BOOST_TEST(summarise({4}).p99 == 4);
}

BOOST_AUTO_TEST_CASE(each_statistic_has_its_own_median_over_repeats) {
  const Summary typical = median_of({{1, 2, 30, 4}, {3, 4, 10, 60}, {2, 9, 20, 5}});
  BOOST_TEST(typical.min == 2);
  BOOST_TEST(typical.median == 4);
  BOOST_TEST(typical.p99 == 20);
  BOOST_TEST(typical.max == 5);
}

// The machine was ten times slower in the second repeat: the ratio of the medians would tell less.
BOOST_AUTO_TEST_CASE(ratios_are_taken_repeat_by_repeat) {
  BOOST_TEST(median_ratio({2, 20, 2}, {1, 10, 4}) == 2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::tpbench
