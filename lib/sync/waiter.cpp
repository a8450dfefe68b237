#include "lib/sync/waiter.h"

#include "lib/sync/doorbell.h"
#include "lib/sync/usable_cpus.h"

#include <sched.h>
#include <algorithm>

namespace tensorplay::sync {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBarePolls = 200;
// So many turns of the ranks that share a CPU. With fewer, a rank that has a CPU to itself for the
// moment falls asleep before the others are through, and waking it takes as long as some switches.
constexpr int kYields = 30;
// About two line transfers under way and the time to fill a small buffer: what a peer that is
// running needs. Longer waits are for peers that aren't.
constexpr std::chrono::microseconds kSpin{20};
constexpr std::chrono::microseconds kYielding{200};

void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

bool poll_times(Condition& condition, int times) {
  for (int i = 0; i < times; ++i) {
    if (condition.poll()) return true;
  }
  return false;
}

bool spin_with_pauses(Condition& condition) {
  const Clock::time_point end = Clock::now() + kSpin;
  do {
    for (int i = 0; i < 64; ++i) {
      if (condition.poll()) return true;
      pause();
    }
  } while (Clock::now() < end);
  return false;
}

bool yield_times(Condition& condition, int times) {
  for (int i = 0; i < times; ++i) {
    sched_yield();
    if (condition.poll()) return true;
  }
  return false;
}

bool yield_for_a_while(Condition& condition) {
  const Clock::time_point end = Clock::now() + kYielding;
  while (Clock::now() < end) {
    if (yield_times(condition, 1)) return true;
  }
  return false;
}

}  // namespace

std::chrono::nanoseconds slice_until(Clock::time_point deadline) noexcept {
  const auto left = std::chrono::nanoseconds(deadline - Clock::now());
  return std::clamp(left, std::chrono::nanoseconds(0), kSlice);
}

bool Waiter::spin(Condition& condition, int rank_count) const {
  if (rank_count <= usable_cpus(segment_.header())) {
    return poll_times(condition, kBarePolls) || spin_with_pauses(condition) ||
           yield_for_a_while(condition);
  }
  return condition.poll() || yield_times(condition, kYields);
}

void Waiter::wait(Condition& condition, int rank_count) const {
  if (spin(condition, rank_count)) return;
  const WaitingMark mark(segment_.rank_block(world_rank_).activity, condition.waiting_for());
  // Who slept its time out without a ring looks once and sleeps again: nothing is about to happen.
  bool lively = true;
  do {
    condition.check(Clock::now());
    const auto slice = condition.slice();
    Sleep sleep(segment_, world_rank_, condition.sleeping_for());
    if (condition.poll()) return;
    lively = sleep.sleep(slice);
  } while (lively ? !spin(condition, rank_count) : !condition.poll());
}

}  // namespace tensorplay::sync
