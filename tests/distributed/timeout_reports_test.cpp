// What a time-out tells: for each rank of the group where it is, since when, and what it called.

#include "lib/base/fault_point.h"
#include "tests/distributed/plain.h"
#include "tests/distributed/told.h"
#include "tests/join/joinables.h"
#include "tests/worlds/worlds.h"

#include <tensorplay/distributed/process_group.h>

#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace tensorplay::distributed {
namespace {

using join_tests::Counter;
using join_tests::with_join;
using worlds::World;
using worlds::WorldOptions;
using worlds::WorldResult;
using namespace std::chrono_literals;

const WorldOptions kImpatient{.timeout = 2s};
constexpr auto kTooLong = 6s;

WorldResult run(int world_size, const worlds::RankBody& body,
                const WorldOptions& options = kImpatient) {
  return run_world(World::forked_processes, world_size, body, options);
}

void stop_when_posted(const char* name) {
  if (std::string_view(name) != "arrival.published") return;
  // Relaxed: this process has one thread.
  fault_handler.store(nullptr, std::memory_order_relaxed);
  raise(SIGSTOP);
}

BOOST_AUTO_TEST_SUITE(timeout_reports)

BOOST_AUTO_TEST_CASE(a_slow_rank_is_in_user_code) {
  const auto result = run(3, [](ProcessGroup& group) -> std::string {
    add_up(group, 4, 2);
    if (group.rank() == 2) std::this_thread::sleep_for(kTooLong);
    return told(group, [&] { group.barrier(); });
  });
  expect_all_say(result,
                 "Timeout: a rank waited T s in barrier, operation 3, for rank 2, which is missing "
                 "from it. The ranks:\n"
                 "  rank 0 (pid P): waiting in barrier, operation 3, for T s\n"
                 "  rank 1 (pid P): waiting in barrier, operation 3, for T s\n"
                 "  rank 2 (pid P): in user code for T s (state); last call: all_reduce (sum, "
                 "float32, 4 elements), operation 2\n"
                 "Find out what rank 2 does instead, or raise the group's timeout");
  expect_all_say_the_same(result, 3);
}

// Stopped until somebody has had the Timeout, then it goes on.
BOOST_AUTO_TEST_CASE(a_stopped_rank_is_told_as_such) {
  const auto result = run(3, [](ProcessGroup& group) -> std::string {
    std::int32_t pid = getpid();
    group.broadcast(std::span(&pid, 1), 1);
    if (group.rank() == 1) raise(SIGSTOP);
    const std::string text = told(group, [&] { group.barrier(); });
    if (group.rank() == 0) kill(pid, SIGCONT);
    return text;
  });
  expect_all_say(result,
                 "Timeout: a rank waited T s in barrier, operation 2, for rank 1, which is missing "
                 "from it. The ranks:\n"
                 "  rank 0 (pid P): waiting in barrier, operation 2, for T s\n"
                 "  rank 1 (pid P): stopped by a signal; in user code for T s; last call: "
                 "broadcast (int32, 1 element, root 1), operation 1\n"
                 "  rank 2 (pid P): waiting in barrier, operation 2, for T s\n"
                 "Find out what rank 1 does instead, or raise the group's timeout");
  expect_all_say_the_same(result, 3);
}

// Before it tells that it waits: it would have spun first.
BOOST_AUTO_TEST_CASE(a_rank_that_is_stopped_inside_of_a_call_is_told_as_such) {
  const auto result = run(3, [](ProcessGroup& group) -> std::string {
    std::int32_t pid = getpid();
    group.broadcast(std::span(&pid, 1), 1);
    // Relaxed: this process has one thread.
    if (group.rank() == 1) fault_handler.store(&stop_when_posted, std::memory_order_relaxed);
    std::vector<float> values(40'000, 1.0f);
    const std::string text = told(group, [&] { group.all_reduce(std::span(values)); });
    if (group.rank() == 0) kill(pid, SIGCONT);
    return text;
  });
  const std::string text = plain(result.ranks[0].findings);
  BOOST_TEST(
      (text.find("  rank 1 (pid P): stopped by a signal; with all_reduce (sum, float32, 40000 "
                 "elements), operation 2, under way, for T s\n") != std::string::npos),
      text);
  expect_all_say_the_same(result, 3);
}

BOOST_AUTO_TEST_CASE(joined_ranks_and_iterations_are_told) {
  const auto result = run(3, [](ProcessGroup& group) -> std::string {
    Counter counter(group);
    return told(group, [&] {
      with_join({counter}, {.timeout = 60s}, [&] {
        for (int i = 0; i < 1 + group.rank(); ++i) {
          if (i == 2) std::this_thread::sleep_for(kTooLong);
          counter.count();
          if (group.rank() == 1 && i == 1) group.barrier();
        }
      });
    });
  });
  expect_all_say(
      result,
      "Timeout: a rank waited T s in barrier, operation 3, for rank 2, which is missing "
      "from it. The ranks:\n"
      "  rank 0 (pid P): joined after 1 iteration, waiting for the others, for T s; last "
      "call: all_reduce (sum, int64, 1 element), operation 1\n"
      "  rank 1 (pid P): waiting in barrier, operation 3, for T s\n"
      "  rank 2 (pid P): in user code, in iteration 2, for T s (state); last call: "
      "all_reduce (sum, int64, 1 element), operation 2\n"
      "Find out what rank 2 does instead, or raise the group's timeout");
}

// Ranks that wait for each other in two groups.
BOOST_AUTO_TEST_CASE(a_rank_that_waits_in_another_group_is_told) {
  const auto result = run(2, [](ProcessGroup& group) -> std::string {
    ProcessGroup other = group.split(0, 0);
    ProcessGroup& mine = group.rank() == 0 ? group : other;
    // So that its own time isn't over first.
    if (group.rank() == 1) std::this_thread::sleep_for(1s);
    return told(mine, [&] { mine.barrier(); });
  });
  BOOST_TEST(plain(result.ranks[0].findings) ==
             "Timeout: a rank waited T s in barrier, operation 4, for rank 1, which is missing "
             "from it. The ranks:\n"
             "  rank 0 (pid P): waiting in barrier, operation 4, for T s\n"
             "  rank 1 (pid P): waiting in barrier, operation 1 of another group, for T s; last "
             "call: all_reduce (min, uint8, 1 element) of split(), operation 3\n"
             "Find out what rank 1 does instead, or raise the group's timeout");
}

BOOST_AUTO_TEST_CASE(a_rank_that_waits_in_an_earlier_operation_is_told) {
  const auto result = run(3, [](ProcessGroup& group) -> std::string {
    std::int32_t one = 1, two = 2;
    Work work;
    if (group.rank() != 2) work = group.all_reduce_async(std::span(&one, 1));
    if (group.rank() == 2) std::this_thread::sleep_for(kTooLong);
    return told(group, [&] {
      if (group.rank() == 1) work.wait();
      group.all_reduce(std::span(&two, 1));
    });
  });
  const std::string first = plain(result.ranks[0].findings);
  BOOST_TEST(
      (first.find("  rank 1 (pid P): waiting in all_reduce (sum, int32, 1 element), operation 1, "
                  "for T s\n"
                  "  rank 2 (pid P): in user code for T s (state); no call in this group yet\n") !=
       std::string::npos),
      first);
  expect_all_say_the_same(result, 3);
}

BOOST_AUTO_TEST_CASE(operations_that_a_rank_has_under_way_in_user_code_are_told) {
  const auto result = run(2, [](ProcessGroup& group) -> std::string {
    float value = 1;
    Work work = group.all_reduce_async(std::span(&value, 1));
    if (group.rank() == 1) std::this_thread::sleep_for(kTooLong);
    return told(group, [&] {
      work.wait();
      group.barrier();
    });
  });
  expect_all_say(result,
                 "Timeout: a rank waited T s in barrier, operation 2, for rank 1, which is missing "
                 "from it. The ranks:\n"
                 "  rank 0 (pid P): waiting in barrier, operation 2, for T s\n"
                 "  rank 1 (pid P): in user code for T s (state); last call: all_reduce (sum, "
                 "float32, 1 element), operation 1, under way\n"
                 "Find out what rank 1 does instead, or raise the group's timeout");
}

BOOST_AUTO_TEST_CASE(a_split_is_told_by_its_name) {
  const auto result = run(2, [](ProcessGroup& group) -> std::string {
    if (group.rank() == 1) std::this_thread::sleep_for(kTooLong);
    return told(group, [&] { group.split(0, 0); });
  });
  expect_all_say(result,
                 "Timeout: a rank waited T s in all_gather (int32, 2 elements) of split(), "
                 "operation 1, for rank 1, which is missing from it. The ranks:\n"
                 "  rank 0 (pid P): waiting in all_gather (int32, 2 elements) of split(), "
                 "operation 1, for T s\n"
                 "  rank 1 (pid P): in user code for T s (state); no call in this group yet\n"
                 "Find out what rank 1 does instead, or raise the group's timeout");
}

BOOST_AUTO_TEST_CASE(many_ranks_share_lines) {
  const auto result = run(18,
                          [](ProcessGroup& group) -> std::string {
                            group.barrier();
                            if (group.rank() == 5) std::this_thread::sleep_for(9s);
                            return told(group, [&] { group.barrier(); });
                          },
                          {.timeout = 3s});
  expect_all_say(result,
                 "Timeout: a rank waited T s in barrier, operation 2, for rank 5, which is missing "
                 "from it. The ranks:\n"
                 "  rank 5 (pid P): in user code for T s (state); last call: barrier, operation 1\n"
                 "  ranks 0-4, 6-17: waiting in barrier, operation 2, for T s\n"
                 "Find out what rank 5 does instead, or raise the group's timeout");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::distributed
