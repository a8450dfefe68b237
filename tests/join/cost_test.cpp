// What joining and notifying cost: a store, and no processor time of a rank that has joined.

#include "tests/join/forbidden_syscalls.h"
#include "tests/join/joinables.h"
#include "tests/worlds/world_test.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <string>
#include <thread>

namespace tensorplay::join_tests {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using worlds::Findings;
using worlds::kSanitized;
using worlds::run_world;
using worlds::World;
using worlds::WorldResult;

constexpr int kNotifications = 1'000'000;
// Exit codes of the rank that notifies under the filter.
constexpr int kNoSystemCall = 17;
constexpr int kNoFilter = 18;

std::chrono::nanoseconds cpu_time_of_thread() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// Trains the ranks above `joined` for that long: they stop together, when the highest says so.
int train_for(ProcessGroup& group, const std::function<void()>& step, Clock::duration time) {
  const Clock::time_point end = Clock::now() + time;
  int steps = 0;
  for (std::int32_t go_on = 1; go_on != 0; ++steps) {
    step();
    go_on = Clock::now() < end;
    group.broadcast(std::span(&go_on, 1), group.size() - 1);
  }
  return steps;
}

BOOST_AUTO_TEST_SUITE(cost)

#ifndef TENSORPLAY_THREAD_WORLDS

// One rank notifies while the other sleeps, and dies if it makes a system call.
BOOST_AUTO_TEST_CASE(a_notification_makes_no_system_call_and_waits_for_nobody) {
  if (kSanitized) return;  // the sanitizers' allocators make system calls of their own
  const WorldResult result =
      run_world(World::forked_processes, 2, [](ProcessGroup& group) -> std::string {
        Scripted model(group), second(group);
        Join join({model, second}, {});
        for (int i = 0; i < 100; ++i) model.notify();  // whatever is done once is done now
        group.barrier();
        if (group.rank() == 0) {
          std::this_thread::sleep_for(3s);
          _exit(0);
        }
        if (!forbid_system_calls()) _exit(kNoFilter);
        for (int i = 0; i < kNotifications; ++i) {
          model.notify();
          second.notify();
        }
        _exit(kNoSystemCall);
      });
  BOOST_TEST(result.ranks[1].signal != SIGSYS);
  BOOST_TEST(result.ranks[1].exit_code == kNoSystemCall);
  // Rank 0 slept all the time.
  BOOST_TEST(result.ranks[1].ended_after.count() < result.ranks[0].ended_after.count());
  BOOST_TEST(result.ranks[0].exit_code == 0);
}

#endif

TP_WORLD_TEST(a_million_notifications_need_no_other_rank) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    Findings found;
    Scripted model(group);
    std::int64_t done_at = 0, woke_at = 0;
    const auto now = [] { return Clock::now().time_since_epoch().count(); };
    const JoinReport report = with_join({model}, {}, [&] {
      model.notify();
      group.barrier();
      if (group.rank() == 0) {
        std::this_thread::sleep_for(2s);
        woke_at = now();
        return;
      }
      for (int i = 1; i < kNotifications / (kSanitized ? 10 : 1); ++i) model.notify();
      done_at = now();
    });
    group.broadcast(std::span(&done_at, 1), 1);
    if (group.rank() == 0) found.expect(done_at < woke_at, "done before rank 0 woke up");
    found.equal(report.ranks[1].iterations, kNotifications / (kSanitized ? 10 : 1), "iterations");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(a_joined_rank_sleeps_while_the_others_train) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    Counter counter(group);
    Join join({counter}, {});
    int steps = 0;
    if (group.rank() > 0)
      steps = train_for(
          group, [&] { counter.count(); }, 1500ms);
    const Clock::time_point begin = Clock::now();
    const auto cpu_before = cpu_time_of_thread();
    join.finish();
    const auto cpu = cpu_time_of_thread() - cpu_before;
    if (group.rank() == 0) {
      found.expect(Clock::now() - begin >= 1400ms, "rank 0 was joined for most of the time");
      found.expect(cpu < 50ms, "it used " + std::to_string(cpu / 1us) + " us of processor time");
    } else {
      found.expect(steps > 100, "the others made " + std::to_string(steps) + " steps");
    }
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

// In step it has to wake up for every iteration, yet not to spin in between.
TP_WORLD_TEST(a_joined_rank_in_step_sleeps_between_slow_iterations) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    Findings found;
    Mirror mirror(group, 10);
    Join join({mirror}, {});
    if (group.rank() == 1) {
      for (int i = 0; i < 10; ++i) {
        std::this_thread::sleep_for(100ms);
        mirror.use();
      }
    }
    const auto cpu_before = cpu_time_of_thread();
    join.finish();
    const auto cpu = cpu_time_of_thread() - cpu_before;
    found.equal(mirror.history.size(), 10u, "the history");
    if (group.rank() == 0) {
      found.expect(cpu < 200ms, "it used " + std::to_string(cpu / 1us) + " us of processor time");
    }
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::join_tests
