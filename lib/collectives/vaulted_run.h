// Large operations that outlive the death of those who take part.
//
// Before a rank arrives it copies its source into a *vault*, memory of its own in its arena, which
// nobody else writes. So a contribution is there wholly or not at all, whatever becomes of its rank
// afterwards, and who contributes is settled by the arrivals alone.
//
// Receivers read the vaults. An all_reduce is divided among its contributors, if it has two: each
// reduces its slice from all vaults into a second part of its own vault, chunk by chunk, and tells
// by `reduced`; the others copy the chunks from there. What a contributor that has died left
// undone, every receiver reduces for itself from the same vaults, in the same order: the same bits.
// `consumed` tells that this rank reads nobody's vault any more.
//
// Bytes moved per rank for an all_reduce of S bytes by W ranks: S copied into the vault, S read and
// S/W written reducing, S copied out. Bytes of its vault: 1.5 S, since its slice is half of the
// block at most.
//
// The operation isn't divided into parts that would do with smaller vaults: a rank that dies
// between two of them would contribute to one part of the result and not to the next.
#pragma once

#include "lib/collectives/large_run.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tensorplay::collectives {

// The bytes of a vault for an operation of this shape: the source, and room for the largest slice.
std::size_t vault_bytes(const Shape& shape) noexcept;
// Where in a vault the reduced slice begins: behind the source, on a page of its own.
std::size_t vault_result_offset(const Shape& shape) noexcept;

class VaultedRun : public LargeRun {
 public:
  // Throws SegmentError if an arrival names a vault outside its rank's arena.
  explicit VaultedRun(const Exchange& exchange);

  bool advance() override;
  bool awaits(int member) const override;

 private:
  struct Worker {
    int member;
    std::byte* vault;
    std::size_t begin;  // its slice of the block, in bytes
    std::size_t end;
    std::uint64_t collected = 0;  // chunks that lie in this rank's destination
    std::uint64_t chunks() const noexcept;
  };

  std::byte* vault_of(int member) const;
  bool is_all_reduce() const noexcept;
  void find_workers();
  void read_sources();
  void reduce_own_slice(const Worker& own);
  bool collect(Worker& worker);
  bool is_reduced(const Worker& worker) const noexcept;
  void reduce_chunk(const Worker& worker, std::uint64_t chunk, std::byte* result) const;

  Exchange exchange_;
  std::vector<std::byte*> vaults_;  // by member; null where there is none
  std::vector<Worker> workers_;     // of an all_reduce by two or more
  bool moved_ = false;              // what this rank can do without waiting is done
  bool consumed_ = false;
};

}  // namespace tensorplay::collectives
