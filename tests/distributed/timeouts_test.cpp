// Time-outs of single waits, and of Join contexts.

#include "tests/distributed/plain.h"
#include "tests/distributed/told.h"
#include "tests/join/joinables.h"
#include "tests/worlds/world_test.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace tensorplay::distributed {
namespace {

using join_tests::Counter;
using join_tests::with_join;
using worlds::Findings;
using worlds::run_world;
using namespace std::chrono_literals;

std::string wait_in_vain_then_again(ProcessGroup& group) {
  Findings found;
  std::int32_t value = 1;
  if (group.rank() == 1) std::this_thread::sleep_for(1500ms);
  Work work = group.all_reduce_async(std::span(&value, 1));
  if (group.rank() == 0) {
    const std::string text = found.throws<Timeout>([&] { work.wait(200ms); }, "the wait");
    found.contains(text, "rank 0 waited 0.2 s in all_reduce (sum, int32, 1 element), operation 1",
                   "the text");
    found.contains(text, "rank 1 (pid ", "the text");
    found.contains(text,
                   "Find out what rank 1 does instead, or raise the timeout of this call. The "
                   "operation goes on",
                   "the text");
    found.throws<Timeout>([&] { work.wait(0ms); }, "a look");
    found.throws<InvalidArgument>([&] { work.wait(-1ms); }, "a negative time");
    found.expect(!work.is_completed(), "completed");
  }
  found.equal(work.wait().count(), 2, "contributors");
  found.equal(value, 2, "the sum");
  found.equal(work.wait(0ms).count(), 2, "contributors of a completed operation");
  group.barrier();
  return found.text();
}

std::string wait_for_an_iteration_in_vain(ProcessGroup& group) {
  Findings found;
  Counter counter(group);
  with_join({counter}, {}, [&] {
    if (group.rank() == 1) std::this_thread::sleep_for(1s);
    auto work = join_tests::Join::notify_join_context(counter);
    if (group.rank() == 0) {
      found.contains(found.throws<Timeout>([&] { work->wait(100ms); }, "the wait"),
                     "in iteration 1 of the Join context, for rank 1", "the text");
    }
    found.equal(work->result(), 2, "active ranks");
  });
  return found.text();
}

// The active rank is away for longer than the time of either kind.
std::string stay_away(ProcessGroup& group, std::chrono::milliseconds context_timeout,
                      bool throws_early) {
  Counter counter(group);
  return thrown_by([&] {
    with_join({counter}, {.throw_on_early_termination = throws_early, .timeout = context_timeout},
              [&] {
                if (group.rank() == 0) return;
                std::this_thread::sleep_for(3s);
                counter.count();
              });
  });
}

// How much later than its group's time-out a rank is told that nobody comes.
std::string lateness_ms(ProcessGroup& group, std::chrono::milliseconds timeout) {
  using Clock = std::chrono::steady_clock;
  if (group.rank() == 1) {
    std::this_thread::sleep_for(4 * timeout);
    return "";
  }
  const auto start = Clock::now();
  const std::string text = thrown_by([&] { group.barrier(); });
  const auto late = Clock::now() - start - timeout;
  return text.starts_with("Timeout: ") ? std::to_string(late / 1ms) : "0, but " + text;
}

BOOST_AUTO_TEST_SUITE(timeouts)

// Sleepers look every 50 ms: the third look would come 45 ms after the deadline.
TP_WORLD_TEST(a_deadline_is_noticed_when_it_comes) {
  constexpr auto kTimeout = 105ms;
  std::vector<int> late;
  for (int i = 0; i < 7; ++i) {
    const auto result =
        run_world(world, 2, [&](ProcessGroup& group) { return lateness_ms(group, kTimeout); },
                  {.timeout = kTimeout});
    const std::string& told = result.ranks[0].findings;
    BOOST_TEST((told.find("but") == std::string::npos), told);
    late.push_back(std::stoi(told));
  }
  std::ranges::sort(late);
  BOOST_TEST(late.front() >= 0);
  BOOST_TEST(late[late.size() / 2] < 30);
}

TP_WORLD_TEST(a_wait_with_a_time_of_its_own_ends_and_the_operation_goes_on) {
  BOOST_TEST(run_world(world, 2, wait_in_vain_then_again).findings() == "");
}

TP_WORLD_TEST(a_wait_for_an_iteration_has_a_time_of_its_own_too) {
  BOOST_TEST(run_world(world, 2, wait_for_an_iteration_in_vain).findings() == "");
}

TP_WORLD_TEST(a_context_can_wait_longer_than_its_group) {
  const auto result =
      run_world(world, 2, [](ProcessGroup& group) { return stay_away(group, 60s, false); },
                {.timeout = 1500ms});
  expect_all_say(result, "nothing was thrown");
}

TP_WORLD_TEST(a_context_can_wait_less_than_its_group) {
  for (const bool throws_early : {false, true}) {
    const auto result = run_world(
        world, 2, [=](ProcessGroup& group) { return stay_away(group, 500ms, throws_early); });
    const std::string where = throws_early ? "in iteration 1 of" : "at the end of";
    const std::string rank_0 = throws_early ? "joined after 0 iterations, waiting for iteration 1 "
                                              "of the Join context,"
                                            : "joined after 0 iterations, waiting for the others,";
    expect_all_say(result,
                   "Timeout: a rank waited T s " + where +
                       " the Join context, for rank 1. The ranks:\n  rank 0 (pid P): " + rank_0 +
                       " for T s; no call in this group yet\n"
                       "  rank 1 (pid P): in user code for T s (state); no call in this "
                       "group yet\n"
                       "Find out what rank 1 does instead, or raise JoinOptions::timeout");
  }
}

TP_WORLD_TEST(a_context_s_time_must_be_positive) {
  const auto result = run_world(world, 1, [](ProcessGroup& group) {
    Counter counter(group);
    return thrown_by([&] { with_join({counter}, {.timeout = 0ms}, [] {}); });
  });
  BOOST_TEST(result.ranks[0].findings.starts_with("InvalidArgument: "));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::distributed
