// Every schedule of a few operations from vaults, with deaths between any two accesses; and the
// mistakes that the model must find.

#include "tests/collectives/vault_model.h"

#include "tests/sync/exploration.h"
#include "tests/sync/random_schedule.h"
#include "tests/sync/seed.h"

#include <boost/test/unit_test.hpp>

#include <cstdio>
#include <string>

namespace tensorplay::collectives {
namespace {

sync::Exploration every_schedule(const VaultPlan& plan) {
  VaultModel model(plan);
  sync::Exploration result = sync::explore(model);
  std::printf("every schedule of %d ranks: %s\n", plan.rank_count, to_string(result).c_str());
  return result;
}

void expect_no_finding(const VaultPlan& plan) {
  const sync::Exploration result = every_schedule(plan);
  BOOST_TEST(result.finding == "");
  BOOST_TEST(result.state_count > 100U);
}

void expect_finding(const VaultPlan& plan, const std::string& what) {
  const sync::Exploration every = every_schedule(plan);
  BOOST_TEST(every.finding.find(what) != std::string::npos, to_string(every));
}

BOOST_AUTO_TEST_SUITE(vault_model)

BOOST_AUTO_TEST_CASE(every_schedule_without_deaths_is_right) {
  expect_no_finding({.rank_count = 2, .operations = 3});
  expect_no_finding({.rank_count = 3, .operations = 2});
}

BOOST_AUTO_TEST_CASE(every_schedule_with_a_death_is_right) {
  expect_no_finding({.rank_count = 2, .operations = 3, .mortals = {1}});
  expect_no_finding({.rank_count = 2, .operations = 2, .mortals = {0, 1}});
  expect_no_finding({.rank_count = 3, .operations = 2, .mortals = {1}});
}

BOOST_AUTO_TEST_CASE(every_schedule_with_two_deaths_is_right) {
  expect_no_finding({.rank_count = 3, .operations = 1, .mortals = {0, 2}});
}

BOOST_AUTO_TEST_CASE(random_schedules_with_deaths_are_right) {
  constexpr std::uint64_t kSchedules = 300;
  const std::uint64_t first = sync::seed_of_test();
  std::printf("%d random schedules from TENSORPLAY_TEST_SEED=%llu\n", static_cast<int>(kSchedules),
              static_cast<unsigned long long>(first));
  for (std::uint64_t seed = first; seed < first + kSchedules; ++seed) {
    const auto rank_count = static_cast<int>(2 + seed % 4);
    VaultPlan plan{.rank_count = rank_count, .operations = 1 + seed % 12};
    for (int rank = 1; rank < rank_count; ++rank) plan.mortals.push_back(rank);
    VaultModel model(plan);
    BOOST_REQUIRE_EQUAL(sync::run_in_random_order(model, seed), "");
  }
}

BOOST_AUTO_TEST_CASE(an_arrival_before_the_vault_is_filled_is_found) {
  expect_finding({.mistake = VaultMistake::arrival_before_copy}, "before it was filled");
  expect_finding({.mortals = {1}, .mistake = VaultMistake::arrival_before_copy},
                 "before it was filled");
}

BOOST_AUTO_TEST_CASE(the_dead_left_out_without_a_second_look_are_found) {
  expect_finding({.mortals = {1}, .mistake = VaultMistake::no_second_look},
                 "the contributors are wrong");
}

BOOST_AUTO_TEST_CASE(a_slice_told_before_it_is_written_is_found) {
  expect_finding({.mistake = VaultMistake::reduced_before_result}, "the result is wrong");
}

BOOST_AUTO_TEST_CASE(a_slice_taken_from_a_dead_worker_unseen_is_found) {
  expect_finding({.mortals = {1}, .mistake = VaultMistake::result_without_a_look},
                 "the result is wrong");
}

BOOST_AUTO_TEST_CASE(a_slice_that_nobody_reduces_for_the_dead_is_found) {
  expect_finding({.mortals = {1}, .mistake = VaultMistake::dead_workers_awaited},
                 "somebody waits for ever");
}

BOOST_AUTO_TEST_CASE(slices_that_depend_on_when_a_death_was_seen_are_found) {
  expect_finding({.rank_count = 3,
                  .operations = 1,
                  .mortals = {0},
                  .mistake = VaultMistake::slices_of_the_living},
                 "the result is wrong");
}

// Only a rank that reduces a dead worker's slice reads a vault so late.
BOOST_AUTO_TEST_CASE(a_vault_filled_while_others_read_it_is_found) {
  expect_finding({.rank_count = 3, .mortals = {2}, .mistake = VaultMistake::vault_reused_at_once},
                 "filled before it was read");
}

BOOST_AUTO_TEST_CASE(a_reader_that_tells_too_early_is_found) {
  expect_finding(
      {.rank_count = 3, .mortals = {2}, .mistake = VaultMistake::consumed_before_reading},
      "filled before it was read");
}

BOOST_AUTO_TEST_CASE(a_vault_that_waits_for_dead_readers_is_found) {
  expect_finding({.mortals = {1}, .mistake = VaultMistake::dead_readers_awaited},
                 "somebody waits for ever");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::collectives
