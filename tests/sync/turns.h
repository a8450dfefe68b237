// Ranks that take turns: each waits for the one before it, then tells the one behind it.
#pragma once

#include "lib/shm/segment.h"

#include <cstdint>
#include <string>

namespace tensorplay::sync {

struct TurnsOptions {
  int rank_count = 2;
  std::uint64_t rounds = 1000;
  // Whether ranks go to sleep at once, or wait as the library does.
  bool naked_sleeps = false;
  // What the waiting believes to compete for the CPUs.
  int competitors = 2;
  // One turn in so many is taken with a random delay; 0: none.
  unsigned delay_every = 0;
  std::uint64_t seed = 0;
};

// Takes all turns of one rank; what was wrong, "" if nothing. A wake-up that is lost is found by
// the time that the sleep then takes: nobody looks for so long that a sleeper could do without it.
std::string take_turns(const shm::Segment& segment, int rank, const TurnsOptions& options);

}  // namespace tensorplay::sync
