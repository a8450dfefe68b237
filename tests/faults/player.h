// A rank that plays its part in a scenario: makes the calls, compares each result with what it must
// be over the contributors that it tells, and writes everything into its journal.
#pragma once

#include "tests/conformance/operation.h"
#include "tests/faults/journal.h"
#include "tests/worlds/findings.h"

#include <tensorplay/distributed/algorithms/join_report.h>
#include <tensorplay/distributed/process_group.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tensorplay::faults {

class Player {
 public:
  // On the group of all ranks. `journal` and `found` outlive it.
  Player(const distributed::ProcessGroup& world, Journal& journal, worlds::Findings& found,
         distributed::PeerFailurePolicy policy);

  distributed::ProcessGroup& group() noexcept { return group_; }
  int rank() const noexcept { return group_.rank(); }  // in the group
  int size() const noexcept { return group_.size(); }
  int world_rank() const noexcept { return members_[static_cast<std::size_t>(rank())]; }
  bool survives() const noexcept { return survives_; }
  worlds::Findings& found() noexcept { return found_; }

  // Where the calls that follow belong: all ranks say the same, unless they have left a loop.
  void begin_section();
  void begin_iteration(std::uint32_t iteration);

  // One collective, started and waited for.
  void run(const conformance::Case& one);
  void run_all(const std::vector<conformance::Case>& cases);
  // One that is waited for by finish_oldest() or finish_all().
  void start(const conformance::Case& one);
  void finish_oldest();
  void finish_all();
  std::size_t in_flight() const noexcept { return in_flight_.size(); }

  // An all-reduce in which every rank has a bit of its own: the sum tells who contributed. With
  // `shadow`, as a joined rank in step makes it.
  void census(std::size_t count, bool shadow = false);
  // The same into memory that all ranks read, from allocate_shared().
  void shared_census(std::span<std::int64_t> values, std::span<const std::int64_t> result);
  // What a sum of such bits, made elsewhere, says: to be the same on all ranks that have it.
  void note_census(std::uint64_t ranks, std::string_view what, bool shadow = false);

  void note_report(const distributed::algorithms::JoinReport& report);
  void note_termination();
  void note_state(std::uint64_t checksum, std::string_view what);

  // Divides the group. The result plays on a group of its own.
  Player split(int color, int key);

 private:
  struct Pending {
    Place place;
    conformance::Case one;
    std::unique_ptr<conformance::Operation> operation;
  };

  Player(const Player& parent, distributed::ProcessGroup group, std::uint32_t number);

  Place next_place() noexcept;
  void expect_census(Place place, const distributed::Contributors& who,
                     std::span<const std::int64_t> sums);
  void learn_members();
  std::uint64_t job_ranks(const distributed::Contributors& members) const;
  void add(Entry::Kind kind, Place place, std::uint64_t ranks, std::uint64_t value,
           std::string_view what);

  distributed::ProcessGroup group_;
  Journal& journal_;
  worlds::Findings& found_;
  bool survives_;
  std::vector<int> members_;  // ranks in the job; -1 for who has never been seen
  Place place_;
  std::uint32_t split_count_ = 0;
  std::deque<Pending> in_flight_;
};

// FNV-1a, 64 bits.
std::uint64_t checksum(std::string_view text) noexcept;

}  // namespace tensorplay::faults
