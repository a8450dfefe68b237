// Sleeping until a peer has published something, and waking those who do: an event count per rank.
//
//     sleeper                                   publisher
//     S1 begin_sleep(): sleeping_for, count     P1 publish: store the word (arrival, progress, ...)
//     S2 fence                                  P2 fence
//     S3 look at the word once more             P3 look at the count; if not 0: at the doorbells
//     S4 futex_wait(rings)                      P4 ring: rings += 1, futex_wake
//
// With a full fence on both sides at least one sees the other: either S3 sees the word of P1, or P3
// sees the count of S1. A ring between S1 and S4 changes `rings`, and the futex doesn't sleep.
// Nobody makes a system call while nobody sleeps.
#pragma once

#include "lib/shm/segment.h"

#include <chrono>
#include <cstdint>

namespace tensorplay::sync {

// Wakes the ranks that wait for `publisher`, or for any rank. Called after something was published.
void ring_for(const shm::Segment& segment, int publisher) noexcept;
// Wakes everyone who sleeps, joined ranks too: a rank joined, or a group failed.
void ring_all(const shm::Segment& segment) noexcept;

// Takes a dead rank out of the sleepers, so that nobody rings for it any more. Any survivor may,
// and several.
void clear_doorbell(const shm::Segment& segment, int dead) noexcept;

// What the rank sleeps for right now: as Sleep's. 0: it's awake, as every sleeper is now and then.
std::uint32_t sleeps_for(const shm::Segment& segment, int world_rank) noexcept;

// One rank's attempt to sleep. Construction is S1 and S2; then look again; then sleep() or not;
// destruction takes the rank out of the sleepers.
class Sleep {
 public:
  // `sleeping_for`: 1 + the world rank that is waited for, kAnyRank, or kAllJoined.
  Sleep(const shm::Segment& segment, int world_rank, std::uint32_t sleeping_for) noexcept;
  ~Sleep();
  Sleep(const Sleep&) = delete;
  Sleep& operator=(const Sleep&) = delete;

  // Whether somebody has rung, now or since the construction; false if the time was up.
  bool sleep(std::chrono::nanoseconds at_most) noexcept;

 private:
  shm::SegmentHeader& header_;
  shm::Doorbell& doorbell_;
  std::uint32_t sleeping_for_;
  std::uint32_t rings_;
};

}  // namespace tensorplay::sync
