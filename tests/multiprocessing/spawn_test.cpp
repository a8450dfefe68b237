#include "lib/distributed/group_engine.h"

#include <tensorplay/distributed/contributors.h>
#include <tensorplay/error.h>
#include <tensorplay/multiprocessing/spawn.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace tensorplay::multiprocessing {
namespace {

using distributed::kRankCountMax;
using distributed::ProcessGroup;
using Clock = std::chrono::steady_clock;

const SpawnOptions kSmall{.arena_bytes = std::size_t{1} << 20};

// A rank's own check: an exception, as Boost.Test's counters are the parent's.
void expect(bool condition, const std::string& text) {
  if (!condition) throw std::logic_error(text);
}

std::optional<SpawnFailure> failure_of(int world_size,
                                       const std::function<void(ProcessGroup&)>& body) {
  try {
    spawn(world_size, body, kSmall);
  } catch (const SpawnFailure& failure) {
    return failure;
  }
  return std::nullopt;
}

void sum_ranks(ProcessGroup& group) {
  std::vector<float> values(1000, static_cast<float>(group.rank() + 1));
  const auto who = group.all_reduce(std::span(values));
  const int size = group.size();
  expect(who.count() == size, "contributors");
  for (const float value : values)
    expect(value == static_cast<float>(size * (size + 1) / 2), "sum");
}

BOOST_AUTO_TEST_SUITE(spawn_suite)

BOOST_AUTO_TEST_CASE(every_rank_gets_a_group_of_all) {
  for (const int world_size : {1, 2, 5}) {
    BOOST_CHECK_NO_THROW(spawn(world_size, sum_ranks, kSmall));
  }
}

BOOST_AUTO_TEST_CASE(jobs_can_follow_one_another) {
  for (int job = 0; job < 10; ++job) BOOST_CHECK_NO_THROW(spawn(2, sum_ranks, kSmall));
}

BOOST_AUTO_TEST_CASE(a_rank_can_spawn) {
  BOOST_CHECK_NO_THROW(spawn(
      2,
      [](ProcessGroup& group) {
        spawn(2, sum_ranks, kSmall);
        sum_ranks(group);
      },
      kSmall));
}

BOOST_AUTO_TEST_CASE(the_time_out_is_the_groups) {
  SpawnOptions options = kSmall;
  options.timeout = std::chrono::milliseconds(1234);
  BOOST_CHECK_NO_THROW(spawn(
      1,
      [](ProcessGroup& group) {
        expect(group.timeout() == std::chrono::milliseconds(1234), "time-out");
      },
      options));
}

BOOST_AUTO_TEST_CASE(world_sizes_out_of_range_are_refused) {
  for (const int world_size : {-1, 0, kRankCountMax + 1}) {
    BOOST_CHECK_THROW(spawn(world_size, sum_ranks, kSmall), InvalidArgument);
  }
}

// Nothing if no group can be had.
std::optional<distributed::StreamingStores> choice_in_a_group(const SpawnOptions& options) {
  std::optional<distributed::StreamingStores> choice;
  for (const auto one : {distributed::StreamingStores::never, distributed::StreamingStores::always,
                         distributed::StreamingStores::automatic}) {
    const auto is_chosen = [one](ProcessGroup& group) {
      const auto& header = group.engine().job().segment()->header();
      expect(header.streaming_stores == one, "another choice");
    };
    try {
      spawn(1, is_chosen, options);
      choice = one;
    } catch (const SpawnFailure&) {
      // One of the others, then.
    }
  }
  return choice;
}

BOOST_AUTO_TEST_CASE(streaming_stores_are_chosen_by_the_options_or_else_by_the_environment) {
  using enum distributed::StreamingStores;
  constexpr const char* kVariable = "TENSORPLAY_STREAMING_STORES";
  SpawnOptions told = kSmall;
  told.streaming_stores = never;
  unsetenv(kVariable);
  BOOST_CHECK(choice_in_a_group(kSmall) == automatic);
  BOOST_CHECK(choice_in_a_group(told) == never);
  setenv(kVariable, "always", 1);
  BOOST_CHECK(choice_in_a_group(kSmall) == always);
  BOOST_CHECK(choice_in_a_group(told) == never);
  setenv(kVariable, "sometimes", 1);
  BOOST_CHECK_EXCEPTION(spawn(1, sum_ranks, kSmall), InvalidArgument, [](const auto& error) {
    return std::string(error.what()) ==
           "TENSORPLAY_STREAMING_STORES=sometimes: auto, never or always is needed";
  });
  unsetenv(kVariable);
}

BOOST_AUTO_TEST_CASE(the_exception_of_the_rank_that_raised_it_is_told_not_its_peers) {
  const auto failure = failure_of(4, [](ProcessGroup& group) {
    sum_ranks(group);
    if (group.rank() == 2) throw std::runtime_error("broken data");
    group.barrier();
  });
  BOOST_REQUIRE(failure.has_value());
  BOOST_TEST(failure->rank() == 2);
  BOOST_TEST(failure->exit_code() == 1);
  BOOST_TEST(std::string(failure->what()).starts_with("rank 2 of 4 (pid "));
  BOOST_TEST(std::string(failure->what()).ends_with("raised std::runtime_error: broken data"));
}

BOOST_AUTO_TEST_CASE(a_rank_that_is_killed_is_told_and_its_peers_dont_hang) {
  const auto start = Clock::now();
  const auto failure = failure_of(3, [](ProcessGroup& group) {
    sum_ranks(group);
    if (group.rank() == 1) ::raise(SIGKILL);
    group.barrier();
  });
  BOOST_REQUIRE(failure.has_value());
  BOOST_TEST(failure->rank() == 1);
  BOOST_TEST(failure->exit_code() == 128 + SIGKILL);
  BOOST_TEST((Clock::now() - start < std::chrono::seconds(30)));
}

BOOST_AUTO_TEST_CASE(a_rank_that_leaves_early_is_what_its_peer_tells) {
  const auto failure = failure_of(2, [](ProcessGroup& group) {
    sum_ranks(group);
    if (group.rank() == 0) return;
    group.barrier();
  });
  BOOST_REQUIRE(failure.has_value());
  BOOST_TEST(failure->rank() == 1);
  BOOST_TEST(std::string(failure->what()).find("raised PeerFailure: ") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::multiprocessing
