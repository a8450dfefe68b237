// Every schedule of a few sleeps and wake-ups, and every moment at which a store can be seen.

#include "tests/sync/sleeping_model.h"

#include "tests/sync/exploration.h"
#include "tests/sync/random_schedule.h"
#include "tests/sync/seed.h"

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace tensorplay::sync {
namespace {

using Actions = std::vector<std::vector<Action>>;

constexpr Buffering kBoth[] = {Buffering::ordered, Buffering::unordered};

const Actions& one_sleeper() {
  static const Actions actions{{publish()}, {wait_for(0, 1)}};
  return actions;
}

const Actions& sleeper_and_mortal() {
  static const Actions actions{{publish()}, {wait_for(0, 1)}, {wait_for_any(0, 1)}};
  return actions;
}

Exploration every_schedule(const SleepingPlan& plan) {
  SleepingModel model(plan);
  Exploration result = explore(model);
  std::printf("every schedule of %zu ranks: %s\n", plan.actions.size(), to_string(result).c_str());
  return result;
}

void expect_no_finding(const Actions& actions, const std::vector<int>& mortals = {}) {
  for (const Buffering buffering : kBoth) {
    const Exploration result =
        every_schedule({.actions = actions, .buffering = buffering, .mortals = mortals});
    BOOST_TEST(result.finding == "");
    BOOST_TEST(result.state_count > 50U);
  }
}

std::string finding_of(SleepingMistake mistake, Buffering buffering,
                       const Actions& actions = one_sleeper()) {
  return every_schedule({.actions = actions, .buffering = buffering, .mistake = mistake}).finding;
}

void expect_lost_wake_up(SleepingMistake mistake, Buffering buffering) {
  const std::string finding = finding_of(mistake, buffering);
  BOOST_TEST(finding.starts_with("somebody waits for ever; after"), finding);
}

// Ranks that take turns: each waits for the one before it, then publishes.
Actions turns(int rank_count, std::uint64_t rounds) {
  Actions actions(static_cast<std::size_t>(rank_count));
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    for (int rank = 0; rank < rank_count; ++rank) {
      auto& mine = actions[static_cast<std::size_t>(rank)];
      const int before = (rank + rank_count - 1) % rank_count;
      if (rank != 0) mine.push_back(wait_for(before, round));
      if (rank == 0 && round > 1) mine.push_back(wait_for_any(before, round - 1));
      mine.push_back(publish());
    }
  }
  return actions;
}

BOOST_AUTO_TEST_SUITE(sleeping)

BOOST_AUTO_TEST_CASE(loses_no_wake_up_of_one_sleeper) {
  expect_no_finding(one_sleeper());
  expect_no_finding({{publish(), publish()}, {wait_for(0, 1), wait_for(0, 2)}});
}

BOOST_AUTO_TEST_CASE(loses_no_wake_up_of_ranks_that_take_turns) {
  expect_no_finding(turns(2, 2));
}

BOOST_AUTO_TEST_CASE(loses_no_wake_up_of_two_who_wait_for_the_same_rank) {
  expect_no_finding({{publish()}, {wait_for(0, 1)}, {wait_for_any(0, 1)}});
}

BOOST_AUTO_TEST_CASE(loses_no_wake_up_of_one_who_waits_for_two_ranks) {
  expect_no_finding({{publish()}, {publish()}, {wait_for_any(0, 1), wait_for(1, 1)}});
}

BOOST_AUTO_TEST_CASE(loses_no_wake_up_of_a_joined_rank) {
  expect_no_finding({{publish_to_all()}, {wait_for_joined(0, 1)}});
  expect_no_finding({{publish(), publish_to_all()}, {wait_for(0, 1), wait_for_joined(0, 2)}});
}

// A survivor takes the dead one out of the sleepers; its own wake-up must come.
BOOST_AUTO_TEST_CASE(loses_no_wake_up_when_another_sleeper_dies) {
  expect_no_finding(sleeper_and_mortal(), {2});
}

BOOST_AUTO_TEST_CASE(loses_no_wake_up_in_random_schedules_of_many_turns) {
  constexpr std::uint64_t kSchedules = 200;
  const std::uint64_t first = seed_of_test();
  std::printf("%d random schedules from TENSORPLAY_TEST_SEED=%llu\n", static_cast<int>(kSchedules),
              static_cast<unsigned long long>(first));
  for (std::uint64_t seed = first; seed < first + kSchedules; ++seed) {
    const auto rank_count = static_cast<int>(2 + seed % 3);
    SleepingModel model({.actions = turns(rank_count, 20), .buffering = kBoth[seed / 3 % 2]});
    BOOST_REQUIRE_EQUAL(run_in_random_order(model, seed), "");
  }
}

BOOST_AUTO_TEST_CASE(without_the_publishers_fence_loses_a_wake_up) {
  for (const Buffering buffering : kBoth) {
    expect_lost_wake_up(SleepingMistake::no_publisher_fence, buffering);
  }
}

BOOST_AUTO_TEST_CASE(without_the_sleepers_fence_loses_a_wake_up) {
  for (const Buffering buffering : kBoth) {
    expect_lost_wake_up(SleepingMistake::no_sleeper_fence, buffering);
  }
}

BOOST_AUTO_TEST_CASE(after_a_look_at_the_count_before_publishing_loses_a_wake_up) {
  expect_lost_wake_up(SleepingMistake::count_read_first, Buffering::ordered);
}

BOOST_AUTO_TEST_CASE(without_a_look_after_registering_loses_a_wake_up) {
  expect_lost_wake_up(SleepingMistake::no_second_look, Buffering::ordered);
}

BOOST_AUTO_TEST_CASE(without_comparing_the_rings_loses_a_wake_up) {
  expect_lost_wake_up(SleepingMistake::rings_not_compared, Buffering::ordered);
}

BOOST_AUTO_TEST_CASE(without_counting_the_rings_loses_a_wake_up) {
  expect_lost_wake_up(SleepingMistake::rings_not_counted, Buffering::ordered);
}

BOOST_AUTO_TEST_CASE(without_counting_the_sleeper_loses_a_wake_up) {
  expect_lost_wake_up(SleepingMistake::count_kept_low, Buffering::ordered);
}

// The dead one is counted out twice, or without having been counted.
BOOST_AUTO_TEST_CASE(with_a_mark_that_a_death_may_leave_uncounted_loses_a_wake_up) {
  for (const SleepingMistake mistake :
       {SleepingMistake::marked_before_counted, SleepingMistake::uncounted_before_unmarked}) {
    const std::string finding =
        every_schedule({.actions = sleeper_and_mortal(), .mortals = {2}, .mistake = mistake})
            .finding;
    BOOST_TEST(finding.starts_with("somebody waits for ever; after"), finding);
    BOOST_TEST(finding_of(mistake, Buffering::ordered, sleeper_and_mortal()) == "");
  }
}

// The sleeper is woken only by whom it waits for, or by everybody.
BOOST_AUTO_TEST_CASE(for_a_rank_that_publishes_nothing_lasts) {
  const std::string finding =
      finding_of(SleepingMistake::none, Buffering::ordered, {{publish()}, {wait_for_joined(0, 1)}});
  BOOST_TEST(finding.starts_with("somebody waits for ever"), finding);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::sync
