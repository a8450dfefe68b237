// Kills ranks at random moments, to show that the others train on: --kill.
#pragma once

#include <sys/types.h>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace tensorplay::train {

// One rank's end: in which epoch, and after which share (0 to 1) of the time that an epoch takes.
// That may be anywhere: in a batch, in the middle of a collective, while the rank waits for the
// others, when the epoch is measured.
struct Killing {
  int rank = 0;
  int epoch = 1;  // 1, 2, ...
  double moment = 0;
};

// `count` different ranks (fewer than `rank_count`) and their moments, drawn by `seed`: the same
// plan on every rank.
std::vector<Killing> plan_killings(int count, int rank_count, int epoch_count, std::uint64_t seed);

// The end of this process by SIGKILL, from a clock of the kernel's: wherever it is then. How long
// an epoch takes is measured by the one before.
class PlannedDeath {
 public:
  PlannedDeath(Killing killing, std::uint64_t seed) : killing_(killing), seed_(seed) {}
  ~PlannedDeath();
  PlannedDeath(const PlannedDeath&) = delete;
  PlannedDeath& operator=(const PlannedDeath&) = delete;

  // Starts the clock, and says so on standard error, where the planned epoch begins. Throws
  // std::system_error.
  void epoch_begins(int epoch);
  // Doesn't return if the clock runs.
  void wait() const;

 private:
  void start_clock(std::chrono::nanoseconds delay);

  Killing killing_;
  std::uint64_t seed_;
  std::optional<timer_t> clock_;
  std::chrono::steady_clock::time_point epoch_begin_{};
};

}  // namespace tensorplay::train
