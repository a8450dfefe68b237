// Large operations through the staging buffers, in rounds.
//
// In round k
//   stage    every source copies its pieces of round k into its next buffer, once all readers have
//            consumed what lay there; operation n begins with buffer n mod kStagingBuffers;
//   reduce   (all_reduce in two phases) every contributor reduces its slice of the round, from the
//   others'
//            buffers and its own memory, into its destination, and copies the result into its own
//            buffer, where its own slice was left free;
//   consume  every receiver reads what it needs from the others' buffers into its destination.
// The first round may be staged ahead, and goes out with the arrival. Little is reduced in
// one phase: every receiver reads and reduces all, with one word less to wait for.
//
// Each rank tells by its three progress words how many rounds it has done of each. The steps of
// different rounds overlap: while round k is reduced, round k + 1 is staged.
//
// Bytes moved per rank for an all_reduce of S bytes by W ranks: S (W-1)/W staged, S read and 2 S/W
// written reducing, S (W-1)/W copied out. A rank's own slice is never copied in, nor out.
#pragma once

#include "lib/collectives/chunk_plan.h"
#include "lib/collectives/large_run.h"

#include <cstdint>

namespace tensorplay::collectives {

class StagedRun : public LargeRun {
 public:
  StagedRun(const Exchange& exchange, StagingLease& lease);

  bool advance() override;
  bool awaits(int member) const override;

 private:
  bool done() const noexcept;
  std::uint64_t value(std::uint64_t rounds) const noexcept;

  bool try_stage();
  bool try_reduce();
  bool try_consume();

  std::uint64_t slot(std::uint64_t k) const noexcept { return exchange_.number + k; }
  const std::byte* buffer_of(int member, std::uint64_t k) const noexcept {
    return exchange_.memory->staging(member, slot(k));
  }
  bool has_staged(int member, std::uint64_t rounds) const noexcept;
  void stage(std::uint64_t k) noexcept;
  void stage_others_slices(ByteRange range, std::byte* buffer) noexcept;
  void reduce(std::uint64_t k);
  void consume(std::uint64_t k);
  void collect_slices(std::uint64_t k) noexcept;
  ByteRange slice(int member, std::size_t bytes) const noexcept;

  Exchange exchange_;
  ChunkPlan plan_;
  bool two_phases_;
  StagingLease& lease_;
  MemberSet readers_;  // of this rank's buffers, without itself
  // Rounds done by this rank.
  std::uint64_t staged_ = 0;
  std::uint64_t reduced_ = 0;
  std::uint64_t consumed_ = 0;
};

}  // namespace tensorplay::collectives
