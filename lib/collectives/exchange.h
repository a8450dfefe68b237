// One operation at the moment when all ranks have arrived: who takes part, with what.
#pragma once

#include "lib/collectives/group_memory.h"
#include "lib/collectives/shape.h"
#include "lib/reduce/reduce_kernel.h"

#include <cstddef>
#include <cstdint>

namespace tensorplay::collectives {

// What the algorithms work on. The sets are the same on every rank.
struct Exchange {
  const GroupMemory* memory = nullptr;
  std::uint64_t number = 0;  // of the operation in its group
  Shape shape;
  reduce::ReduceKernel kernel = nullptr;  // for shapes that reduce
  const std::byte* source = nullptr;      // this rank's; null if it supplies nothing
  std::byte* destination = nullptr;       // this rank's; null if it receives nothing
  MemberSet contributors;                 // the active ranks
  MemberSet participants;                 // the contributors, and joined ranks in step
  MemberSet sources;                      // who supplies values: contributors, or the root
  // Where a peer's death is survived: the members that are known to be gone, a set that grows while
  // the operation is under way; null where it isn't survived.
  const MemberSet* lost = nullptr;
  bool staged_ahead = false;  // by this rank: see StagedRun::stage_ahead()
  bool streams = false;       // copies to destinations go past the caches: see copy_stores.h

  int self() const noexcept { return memory->self(); }
  bool supplies() const noexcept { return sources.contains(self()); }
  bool receives() const noexcept {
    return shape.is_receiver(self()) && participants.contains(self());
  }
  const std::byte* own_block(int block) const noexcept {
    return source + static_cast<std::size_t>(block) * shape.block_bytes;
  }
  std::byte* destination_block(int block) const noexcept {
    return destination + static_cast<std::size_t>(block) * shape.block_bytes;
  }
};

// Finishes part [range) of this rank's destination from the same part of every source.
// `at(member)` gives the address at which the part of the member's block that this rank reads
// begins. Blocks of ranks that supply nothing become zero.
template <typename At>
void deliver(const Exchange& exchange, std::size_t begin, std::size_t end, At&& at);

// Copies unless it would copy to itself; ranges may overlap.
void move_bytes(std::byte* destination, const std::byte* source, std::size_t bytes) noexcept;

// Copies to a destination, of this rank or another, in the way that the operation has chosen.
void copy_out(const Exchange& exchange, std::byte* destination, const std::byte* source,
              std::size_t bytes) noexcept;

// The two halves of deliver(), on addresses by rank order.
void reduce_into(const Exchange& exchange, std::byte* destination, const void* const* sources,
                 std::size_t source_count, std::size_t bytes);
void zero_absent_blocks(const Exchange& exchange, std::size_t begin, std::size_t end) noexcept;

template <typename At>
void deliver(const Exchange& exchange, std::size_t begin, std::size_t end, At&& at) {
  if (exchange.shape.reduces()) {
    const void* sources[distributed::kRankCountMax];
    std::size_t source_count = 0;
    exchange.sources.for_each([&](int member) { sources[source_count++] = at(member); });
    reduce_into(exchange, exchange.destination + begin, sources, source_count, end - begin);
    return;
  }
  zero_absent_blocks(exchange, begin, end);
  exchange.sources.for_each([&](int member) {
    std::byte* block = exchange.destination_block(exchange.shape.block_written_from(member));
    copy_out(exchange, block + begin, at(member), end - begin);
  });
}

}  // namespace tensorplay::collectives
