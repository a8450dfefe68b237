// What a rank is doing, and how far it has got: told for reports and viewers.
//
// Nothing here is a part of any protocol, so the words are read and written without ordering. A
// wait is told only when it outlasts its spinning; an operation costs its rank two stores into
// lines of its own.
#pragma once

#include "lib/shm/layout.h"

#include <tensorplay/distributed/collective_call.h>

#include <chrono>
#include <cstdint>
#include <ctime>

namespace tensorplay::sync {

// What a rank waits for.
struct Waiting {
  shm::Doing doing = shm::Doing::user_code;
  int slot = 0;  // of the group
  distributed::CollectiveKind kind{};
  distributed::CallPurpose purpose{};
  std::uint64_t number = 0;  // of the operation; or the iteration

  friend bool operator==(const Waiting&, const Waiting&) = default;
};

// The word that stands for it: number << 20 | slot << 12 | kind << 8 | purpose << 4 | doing.
constexpr std::uint64_t packed(const Waiting& waiting) noexcept {
  return waiting.number << 20 | static_cast<std::uint64_t>(waiting.slot) << 12 |
         static_cast<std::uint64_t>(waiting.kind) << 8 |
         static_cast<std::uint64_t>(waiting.purpose) << 4 |
         static_cast<std::uint64_t>(waiting.doing);
}
constexpr Waiting unpacked(std::uint64_t word) noexcept {
  return {static_cast<shm::Doing>(word & 15), static_cast<int>(word >> 12 & 255),
          static_cast<distributed::CollectiveKind>(word >> 8 & 15),
          static_cast<distributed::CallPurpose>(word >> 4 & 15), word >> 20};
}

// What its words tell of a rank.
struct ActivityReading {
  Waiting waiting;
  // Since when it waits for that; or, in user code, since its last call or the end of its last
  // wait. 0 if it never made any.
  std::int64_t since_ns = 0;
};

inline std::int64_t nanoseconds_of(clockid_t clock) noexcept {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

// Owner only: it waits from now on.
inline void publish_waiting(shm::Activity& activity, const Waiting& waiting) noexcept {
  // Relaxed, both: figures for a report. In this order, so that a long wait is never told with a
  // moment before it began.
  activity.since_ns.store(nanoseconds_of(CLOCK_MONOTONIC), std::memory_order_relaxed);
  activity.waiting.store(packed(waiting), std::memory_order_relaxed);
}

// Owner only: it doesn't wait any more.
inline void publish_user_code(shm::Activity& activity) noexcept {
  publish_waiting(activity, {});
}

// Owner only: it posts an operation.
inline void publish_call(shm::Activity& activity) noexcept {
  // Relaxed: a figure for a report. The coarse clock costs a few nanoseconds.
  activity.called_ns.store(nanoseconds_of(CLOCK_MONOTONIC_COARSE), std::memory_order_relaxed);
}

// Owner only: its operations up to `number` have ended.
inline void publish_completed(shm::MemberBlock& member, std::uint64_t number) noexcept {
  // Relaxed: a figure for a report.
  member.completed.store(number, std::memory_order_relaxed);
}

inline std::uint64_t completed_number(const shm::MemberBlock& member) noexcept {
  // Relaxed: a figure for a report.
  return member.completed.load(std::memory_order_relaxed);
}

inline ActivityReading read_activity(const shm::Activity& activity) noexcept {
  // Relaxed, all: figures for a report.
  ActivityReading reading{unpacked(activity.waiting.load(std::memory_order_relaxed)),
                          activity.since_ns.load(std::memory_order_relaxed)};
  if (reading.waiting.doing == shm::Doing::user_code) {
    const std::int64_t called = activity.called_ns.load(std::memory_order_relaxed);
    if (called > reading.since_ns) reading.since_ns = called;
  }
  // Whatever the words say: how long ago it was can be counted.
  if (reading.since_ns < 0) reading.since_ns = 0;
  return reading;
}

// As long as it lives, the rank is told to wait.
class WaitingMark {
 public:
  WaitingMark(shm::Activity& activity, const Waiting& waiting) noexcept : activity_(activity) {
    publish_waiting(activity_, waiting);
  }
  ~WaitingMark() { publish_user_code(activity_); }
  WaitingMark(const WaitingMark&) = delete;
  WaitingMark& operator=(const WaitingMark&) = delete;

 private:
  shm::Activity& activity_;
};

}  // namespace tensorplay::sync
