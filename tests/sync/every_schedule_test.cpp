// Every order in which the accesses of a small job can be made.

#include "tests/sync/exploration.h"
#include "tests/sync/stepped_job.h"

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <string>

namespace tensorplay::sync {
namespace {

void expect_no_finding(const JobPlan& plan) {
  SteppedJob job(plan);
  const Exploration result = explore(job);
  std::printf("every schedule of %d ranks: %s\n", plan.rank_count, to_string(result).c_str());
  BOOST_TEST(result.finding == "");
  BOOST_TEST(result.state_count > 100U);
}

BOOST_AUTO_TEST_SUITE(every_schedule)

BOOST_AUTO_TEST_CASE(of_two_ranks_with_even_inputs_is_right) {
  expect_no_finding({.iterations = {{2, 2}}});
}

BOOST_AUTO_TEST_CASE(of_two_ranks_with_uneven_inputs_is_right) {
  expect_no_finding({.iterations = {{3, 1}}});
  expect_no_finding({.iterations = {{0, 2}}});
  expect_no_finding({.iterations = {{18, 1}}});
}

BOOST_AUTO_TEST_CASE(of_three_ranks_of_which_one_has_no_input_is_right) {
  expect_no_finding({.rank_count = 3, .iterations = {{1, 0, 1}}});
  expect_no_finding({.rank_count = 4, .iterations = {{1, 0, 1, 1}}});
}

BOOST_AUTO_TEST_CASE(of_three_ranks_that_end_one_after_another_is_right) {
  expect_no_finding({.rank_count = 3, .iterations = {{3, 1, 2}}});
}

BOOST_AUTO_TEST_CASE(of_contexts_that_follow_one_another_is_right) {
  expect_no_finding({.iterations = {{1, 0}, {0, 1}, {1, 1}}});
  expect_no_finding({.rank_count = 3, .iterations = {{1, 0, 1}, {0, 1, 1}}});
}

BOOST_AUTO_TEST_CASE(of_contexts_without_any_operation_is_right) {
  expect_no_finding({.rank_count = 3, .iterations = {{0, 0, 0}, {0, 0, 0}}});
}

BOOST_AUTO_TEST_CASE(of_a_window_of_one_operation_is_right) {
  expect_no_finding({.iterations = {{3, 2}}, .window = 1});
}

BOOST_AUTO_TEST_CASE(of_two_ranks_of_which_one_may_die_is_right) {
  expect_no_finding({.iterations = {{3, 3}}, .mortals = {1}});
  expect_no_finding({.iterations = {{1, 3}}, .mortals = {1}});
  expect_no_finding({.iterations = {{3, 1}}, .mortals = {1}});
  expect_no_finding({.iterations = {{2, 2}}, .mortals = {0, 1}});
}

BOOST_AUTO_TEST_CASE(of_three_ranks_of_which_one_or_two_may_die_is_right) {
  expect_no_finding({.rank_count = 3, .iterations = {{1, 0, 2}}, .mortals = {2}});
  expect_no_finding({.rank_count = 3, .iterations = {{1, 2, 2}}, .mortals = {2}});
  expect_no_finding({.rank_count = 3, .iterations = {{1, 1, 1}}, .mortals = {1, 2}});
}

BOOST_AUTO_TEST_CASE(of_contexts_between_which_a_rank_may_die_is_right) {
  expect_no_finding({.iterations = {{1, 2}, {2, 1}, {1, 1}}, .mortals = {1}});
  expect_no_finding({.iterations = {{1, 3}, {3, 0}}, .mortals = {0, 1}});
  expect_no_finding({.rank_count = 3, .iterations = {{0, 0, 1}, {1, 0, 1}}, .mortals = {2}});
  expect_no_finding({.rank_count = 3, .iterations = {{0, 0, 0}, {1, 0, 0}}, .mortals = {1, 2}});
}

BOOST_AUTO_TEST_CASE(gives_up_where_there_are_too_many) {
  SteppedJob job({.rank_count = 3, .iterations = {{2, 2, 2}}});
  BOOST_TEST(explore(job, 1000).finding == "too many states");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::sync
