// Large operations from vaults as state machines, one per rank, on the real words: who dies may do
// so between any two accesses, and those that remain must find the same result.
//
// The steps are those of lib/collectives/vaulted_run.h and of the engine around it, for all_reduces
// that follow one another, with one vault per rank: so that each waits for the readers of the last
// one. A block has one word per contributor: each reduces one. Who changes the run changes this.
#pragma once

#include "tests/sync/model.h"

#include "lib/shm/segment.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tensorplay::collectives {

enum class VaultMistake {
  none,
  arrival_before_copy,      // arrives, then fills its vault
  no_second_look,           // leaves the dead out without looking at their arrivals once more
  reduced_before_result,    // tells that its slice is reduced, then writes it
  result_without_a_look,    // takes the slice of a dead worker as it lies there
  dead_workers_awaited,     // doesn't reduce what a dead worker left undone
  slices_of_the_living,     // divides among the contributors that it hasn't seen die
  vault_reused_at_once,     // fills its vault again while others read it
  consumed_before_reading,  // tells that it has read everything, then does
  dead_readers_awaited,     // waits for the dead to read its vault
};

struct VaultPlan {
  int rank_count = 2;
  std::uint64_t operations = 2;
  std::vector<int> mortals = {};
  VaultMistake mistake = VaultMistake::none;
};

// A machine per rank, then one per mortal rank, whose step is the death.
class VaultModel final : public sync::Model {
 public:
  explicit VaultModel(const VaultPlan& plan);

  int machine_count() const override {
    return plan_.rank_count + static_cast<int>(plan_.mortals.size());
  }
  std::string machine_name(int machine) const override;
  bool is_fault(int machine) const override { return machine >= plan_.rank_count; }
  std::string step(int machine) override;
  bool done() const override;
  std::string save() const override;
  void restore(const std::string& saved) override;

 private:
  enum class At : std::uint64_t {
    await_readers,
    look_at_readers_life,
    copy,
    post,
    look_for_arrival,
    look_at_life,
    look_again,
    read_own_slice,
    write_result,
    publish_reduced,
    look_for_reduced,
    look_at_workers_life,
    look_for_reduced_again,
    read_result,
    read_slice_of_the_dead,
    publish_consumed,
  };
  struct Rank {
    std::uint64_t number = 1;  // of the operation that is under way
    At at = At::await_readers;
    std::uint64_t peer = 0;          // whom it looks at, or whose slice it needs
    std::uint64_t source = 0;        // whose vault is read next, or which word is copied next
    std::uint64_t contributors = 0;  // one bit per rank
    std::uint64_t workers = 0;       // likewise: who reduces a slice
    std::uint64_t dead = 0;          // 1 once it has died
  };
  static constexpr std::size_t kRankWords = 7;
  static_assert(sizeof(Rank) == kRankWords * sizeof(std::uint64_t));

  std::uint64_t size() const { return static_cast<std::uint64_t>(plan_.rank_count); }
  bool makes(VaultMistake mistake) const { return plan_.mistake == mistake; }
  bool out_of_it(const Rank& rank) const {
    return rank.dead != 0 || rank.number > plan_.operations;
  }
  shm::MemberBlock& member(std::uint64_t rank) const {
    return segment_->member_block(0, static_cast<int>(rank));
  }
  std::uint64_t& vault(std::uint64_t rank, std::uint64_t word) const;
  std::uint64_t& result(std::uint64_t rank) const;

  std::string step_rank(std::uint64_t self, Rank& rank);
  std::string await_readers(std::uint64_t self, Rank& rank);
  std::string fill(std::uint64_t self, Rank& rank);
  std::string gather_arrivals(std::uint64_t self, Rank& rank);
  std::string reduce(std::uint64_t self, Rank& rank);
  std::string collect(std::uint64_t self, Rank& rank);
  void next_reader(Rank& rank);
  void next_arrival(Rank& rank, bool contributes);
  void next_worker(std::uint64_t self, Rank& rank);
  std::string read_slice(Rank& rank, std::uint64_t word, At after);
  std::string end(std::uint64_t self, Rank& rank);

  std::uint64_t slice_of(const Rank& rank, std::uint64_t worker) const;
  std::uint64_t reduced(const Rank& rank, std::uint64_t word) const;
  std::string wrong(std::uint64_t self, const std::string& what) const;

  VaultPlan plan_;
  std::shared_ptr<shm::Segment> segment_;
  std::vector<Rank> ranks_;
};

}  // namespace tensorplay::collectives
