// What was found out about one point.
#pragma once

#include "tools/tpbench/point.h"
#include "tools/tpbench/statistics.h"

#include <cstddef>
#include <string>
#include <vector>

namespace tensorplay::tpbench {

// What the machine itself needs, measured in the same run, on the same CPUs. Seconds, medians.
struct Limits {
  double line = 0;          // a cache line from one process to another, one way
  double copy = 0;          // as many processes copy as many bytes at once; 0 for a barrier
  double hand_over = 0;     // as many bytes from one process to another, one way; 0 for a barrier
  double yield_switch = 0;  // from one process to another on one core
  double pipe_switch = 0;   // the same through a pipe
  double futex_wake = 0;    // until a sleeper runs on another core
};

// What was measured of one contestant.
struct ContestantResult {
  std::string name;  // "private", "allocated", "shared" (ours, by memory), or a peer's
  bool is_ours = false;
  std::vector<Summary> repeats = {};

  Summary typical() const { return median_of(repeats); }
  std::vector<double> medians() const;
};

struct PointResult {
  Point point;
  std::vector<ContestantResult> contestants = {};  // ours first
  Limits limits;
  int usable_cpus = 0;
  std::size_t retakes = 0;   // tries in which the machine changed, and which were taken again
  std::size_t unsteady = 0;  // repeats that count although it changed in all tries

  const ContestantResult* find(const std::string& name) const;
  // The MPI whose typical median is least; null if there is none. Gloo has no shared memory
  // transport: to be faster than its TCP says nothing.
  const ContestantResult* best_peer() const;
  // How many times as long as ours a peer takes, repeat by repeat, then the median.
  double speedup(const ContestantResult& ours, const ContestantResult& peer) const;
  // The greatest of what applies: a line crosses, as many processes copy as many bytes, and where
  // ranks share CPUs each runs once. What is to be aimed at, and no bound: an operation in place
  // touches half of the memory that copies do, and can be faster where caches are too small.
  double yardstick() const;
};

}  // namespace tensorplay::tpbench
