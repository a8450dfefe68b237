// Random jobs, one after the other, to which random things happen; all against the oracle.
#pragma once

#include "tests/chaos/random_job.h"
#include "tests/faults/tally.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace tensorplay::chaos {

class ChaosRun {
 public:
  // The same seed, the same jobs.
  explicit ChaosRun(std::uint64_t seed) : seed_(seed) {}

  // Jobs 0, 1, 2 ... until the time is over. After a few that are wrong the rest isn't tried.
  void run(std::chrono::duration<double> time);
  // Job `number`: undisturbed, then several times with other faults. Stops at the first that is
  // wrong, and prints that at once, with what to type to have it again.
  void try_job(std::int64_t number);

  // Whether all was well, and something was tried.
  bool fine() const noexcept { return wrong_ == 0 && tally_.trials > 0; }
  // The figures, in a line.
  std::string text();

 private:
  bool try_trial(std::int64_t number, const faults::Trial& trial, faults::Notebook& notebook);

  std::uint64_t seed_;
  faults::Notebook notebook_;
  faults::Notebook undisturbed_;
  faults::Tally tally_;
  int jobs_ = 0;
  int wrong_ = 0;
  int leftovers_ = 0;
};

}  // namespace tensorplay::chaos
