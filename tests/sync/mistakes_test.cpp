// Protocols broken on purpose: the models must find what is wrong with each.

#include "tests/sync/exploration.h"
#include "tests/sync/random_schedule.h"
#include "tests/sync/stepped_job.h"

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <string>

namespace tensorplay::sync {
namespace {

// Among the schedules of the first thousand seeds.
void expect_finding_in_random_order(const JobPlan& plan) {
  std::string finding;
  std::uint64_t seed = 0;
  while (seed < 1000 && finding.empty()) {
    SteppedJob job(plan);
    finding = run_in_random_order(job, ++seed);
  }
  std::printf("%d random schedules: %s\n", static_cast<int>(seed), finding.c_str());
  BOOST_TEST(finding != "");
}

// Among all schedules of the plan, and in random ones.
void expect_finding(const JobPlan& plan, const std::string& what) {
  SteppedJob job(plan);
  const Exploration every = explore(job);
  std::printf("every schedule: %s\n", to_string(every).c_str());
  BOOST_TEST(every.finding.find(what) != std::string::npos, to_string(every));
  expect_finding_in_random_order(plan);
}

BOOST_AUTO_TEST_SUITE(mistakes)

// --- Arrival and membership ---

BOOST_AUTO_TEST_CASE(a_number_published_before_the_payload_is_found) {
  expect_finding({.iterations = {{1, 1}}, .mistake = Mistake::number_before_payload},
                 "not yet written");
}

BOOST_AUTO_TEST_CASE(an_absence_published_before_the_last_operation_was_read_is_found) {
  expect_finding({.iterations = {{18, 1}}, .mistake = Mistake::absence_before_reading},
                 "overwritten before it was read");
}

BOOST_AUTO_TEST_CASE(an_absence_taken_for_one_from_every_operation_is_found) {
  expect_finding({.iterations = {{2, 1}}, .mistake = Mistake::absence_of_any_number},
                 "the contributors are wrong");
}

BOOST_AUTO_TEST_CASE(a_window_that_is_one_too_wide_is_found) {
  // More schedules than can be visited.
  expect_finding_in_random_order(
      {.iterations = {{60, 60}}, .window = shm::kOperationsInFlight + 1});
}

// --- The join board ---

BOOST_AUTO_TEST_CASE(a_board_entered_before_its_arguments_are_written_is_found) {
  expect_finding({.iterations = {{0, 1}}, .mistake = Mistake::entered_before_arguments},
                 "the arguments of another context");
}

BOOST_AUTO_TEST_CASE(a_join_told_before_the_final_number_is_found) {
  expect_finding({.iterations = {{1, 2}}, .mistake = Mistake::joined_before_final},
                 "don't agree where the context begins");
}

BOOST_AUTO_TEST_CASE(iterations_read_before_the_join_are_found) {
  expect_finding({.iterations = {{1, 2}}, .mistake = Mistake::announced_read_first},
                 "shows 1 iterations, not 2");
}

// --- From one context to the next ---

BOOST_AUTO_TEST_CASE(a_context_that_takes_an_old_absence_for_a_new_one_is_found) {
  expect_finding({.iterations = {{1, 0}, {1, 1}}, .mistake = Mistake::resumes_at_last},
                 "the contributors are wrong");
}

BOOST_AUTO_TEST_CASE(one_board_for_all_contexts_is_found) {
  expect_finding({.iterations = {{1, 1}, {1, 1}}, .mistake = Mistake::one_board},
                 "the arguments of another context");
}

// --- A rank that has died ---

BOOST_AUTO_TEST_CASE(the_dead_left_out_without_a_second_look_are_found) {
  expect_finding({.iterations = {{2, 2}}, .mortals = {1}, .mistake = Mistake::no_second_look},
                 "the contributors are wrong");
}

BOOST_AUTO_TEST_CASE(contributors_that_depend_on_when_a_death_was_seen_are_found) {
  expect_finding({.rank_count = 3,
                  .iterations = {{1, 1, 1}},
                  .mortals = {2},
                  .mistake = Mistake::dead_are_absent},
                 "the contributors are wrong");
}

BOOST_AUTO_TEST_CASE(a_number_published_before_the_payload_by_a_rank_that_dies_is_found) {
  expect_finding(
      {.iterations = {{1, 1}}, .mortals = {1}, .mistake = Mistake::number_before_payload},
      "not yet written");
}

BOOST_AUTO_TEST_CASE(a_board_of_the_dead_judged_without_a_second_look_is_found) {
  expect_finding(
      {.iterations = {{1, 2}, {1, 1}}, .mortals = {1}, .mistake = Mistake::no_second_look_at_board},
      "a rank that has joined or died shows");
}

BOOST_AUTO_TEST_CASE(a_context_that_ends_where_its_survivor_ends_is_found) {
  expect_finding({.iterations = {{1, 3}, {1, 1}},
                  .mortals = {1},
                  .mistake = Mistake::ends_where_survivor_ends},
                 "the contributors are wrong");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::sync
