// Every order in which the accesses of a small job can be made.

#include "tests/sync/exploration.h"

#include <boost/test/unit_test.hpp>
#include <string>

namespace tensorplay::sync {
namespace {

void expect_no_finding(const JobPlan& plan) {
  const Exploration result = explore(plan);
  BOOST_TEST_MESSAGE(result.state_count << " states");
  BOOST_TEST(result.finding == "");
  BOOST_TEST(result.state_count > 100U);
}

BOOST_AUTO_TEST_SUITE(every_schedule)

BOOST_AUTO_TEST_CASE(of_two_ranks_with_even_inputs_is_right) {
  expect_no_finding({.rank_count = 2, .iterations = {{2, 2}}});
}

BOOST_AUTO_TEST_CASE(of_two_ranks_with_uneven_inputs_is_right) {
  expect_no_finding({.rank_count = 2, .iterations = {{3, 1}}});
  expect_no_finding({.rank_count = 2, .iterations = {{0, 2}}});
}

BOOST_AUTO_TEST_CASE(of_three_ranks_of_which_one_has_no_input_is_right) {
  expect_no_finding({.rank_count = 3, .iterations = {{1, 0, 1}}});
  expect_no_finding({.rank_count = 4, .iterations = {{1, 0, 1, 1}}});
}

BOOST_AUTO_TEST_CASE(of_three_ranks_that_end_one_after_another_is_right) {
  expect_no_finding({.rank_count = 3, .iterations = {{3, 1, 2}}});
}

BOOST_AUTO_TEST_CASE(of_three_contexts_that_follow_one_another_is_right) {
  expect_no_finding({.rank_count = 2, .iterations = {{1, 0}, {0, 1}, {1, 1}}});
  expect_no_finding({.rank_count = 3, .iterations = {{1, 0, 1}, {0, 1, 1}}});
}

BOOST_AUTO_TEST_CASE(of_contexts_without_any_operation_is_right) {
  expect_no_finding({.rank_count = 3, .iterations = {{0, 0, 0}, {0, 0, 0}}});
}

BOOST_AUTO_TEST_CASE(of_a_window_of_one_operation_is_right) {
  expect_no_finding({.rank_count = 2, .iterations = {{3, 2}}, .window = 1});
}

BOOST_AUTO_TEST_CASE(shows_a_context_that_takes_an_old_absence_for_a_new_one) {
  const std::string finding =
      explore({.rank_count = 2, .iterations = {{1, 0}, {1, 1}}, .gap = 0}).finding;
  BOOST_TEST(finding.find("contributors are wrong") != std::string::npos, finding);
}

BOOST_AUTO_TEST_CASE(gives_up_where_there_are_too_many) {
  BOOST_TEST(explore({.rank_count = 3, .iterations = {{2, 2, 2}}}, 1000).finding ==
             "too many states");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::sync
