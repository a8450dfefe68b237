// One run of a scenario, with faults.
#pragma once

#include "tests/faults/fault.h"
#include "tests/faults/journal.h"
#include "tests/faults/scenario.h"
#include "tests/worlds/worlds.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace tensorplay::faults {

struct Trial {
  const Scenario* scenario = nullptr;
  int world_size = 2;
  distributed::PeerFailurePolicy policy = distributed::PeerFailurePolicy::raise;
  std::vector<Fault> faults;
  // Whether the ranks find each other by a name in /dev/shm, like those that a launcher starts.
  bool named = false;
};
std::string to_string(const Trial& trial);

// The memory that ranks, warden and parent of a trial share. Made once, used for one trial after
// the other.
class Notebook {
 public:
  static constexpr int kRanksMax = 8;

  Notebook();
  ~Notebook();
  Notebook(const Notebook&) = delete;
  Notebook& operator=(const Notebook&) = delete;

  void clear() noexcept;

  Journal& journal(int rank) noexcept { return pages_->journals[index(rank)]; }
  const Journal& journal(int rank) const noexcept { return pages_->journals[index(rank)]; }
  VictimRecord& victim(int rank) noexcept { return pages_->victims[index(rank)]; }
  const VictimRecord& victim(int rank) const noexcept { return pages_->victims[index(rank)]; }
  PassCounts& passes(int rank) noexcept { return pages_->passes[index(rank)]; }

 private:
  struct Pages {
    std::array<Journal, kRanksMax> journals;
    std::array<VictimRecord, kRanksMax> victims;
    std::array<PassCounts, kRanksMax> passes;
  };
  static std::size_t index(int rank) noexcept { return static_cast<std::size_t>(rank); }

  Pages* pages_;
};

// Runs it to its end. What the ranks did is in the notebook afterwards.
worlds::WorldResult run(const Trial& trial, Notebook& notebook);

}  // namespace tensorplay::faults
