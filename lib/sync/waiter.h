// The one loop in which a rank waits: spin, then give the CPU away, then sleep.
//
//                 | ranks <= usable CPUs            | more ranks than CPUs
//     ------------+---------------------------------+----------------------------------------------
//     first       | poll, 200 times without a pause | poll once
//     then        | poll with a pause, 20 us        | sched_yield, 30 times, polling between
//     then        | sched_yield, 200 us: the CPUs   |
//                 | may be busy with something else |
//     then        | sleep on the doorbell, in slices of at most 50 ms, polling and checking between
//
// A slice bounds how long a death or a failure goes unseen by a sleeper; it ends at the deadline of
// the wait.
#pragma once

#include "lib/shm/segment.h"
#include "lib/sync/activity.h"

#include <chrono>
#include <cstdint>

namespace tensorplay::sync {

// The longest sleep of somebody who is rung for.
inline constexpr std::chrono::nanoseconds kSlice = std::chrono::milliseconds(50);

// What is waited for.
class Condition {
 public:
  virtual ~Condition() = default;
  // Looks, cheaply, and lets things advance. True ends the wait.
  virtual bool poll() = 0;
  // Called now and then, at least once per slice: throws if the wait can't succeed any more.
  virtual void check(std::chrono::steady_clock::time_point now) = 0;
  // Whose ring is to end a sleep; as Sleep's.
  virtual std::uint32_t sleeping_for() const = 0;
  // What is told to those who ask what this rank is doing.
  virtual Waiting waiting_for() const { return {}; }
  // The longest sleep without a look: not beyond the deadline, and shorter for what nobody rings
  // for.
  virtual std::chrono::nanoseconds slice() const { return kSlice; }
};

// A slice for a wait that is to end at `deadline`.
std::chrono::nanoseconds slice_until(std::chrono::steady_clock::time_point deadline) noexcept;

// Waits as one rank. Cheap to make.
class Waiter {
 public:
  Waiter(const shm::Segment& segment, int world_rank) noexcept
      : segment_(segment), world_rank_(world_rank) {}

  // Returns once poll() has given true; passes on what check() throws. `rank_count`: how many ranks
  // compete for the CPUs while this one waits.
  void wait(Condition& condition, int rank_count) const;

 private:
  bool spin(Condition& condition, int rank_count) const;

  const shm::Segment& segment_;
  int world_rank_;
};

}  // namespace tensorplay::sync
