// The memory of a group in which results lie once, for all of its ranks.
#pragma once

#include "lib/distributed/arena.h"

#include <tensorplay/distributed/collective_call.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tensorplay::distributed {

// What allocate_shared() has given to this rank of a group, and how the ranks call its places among
// each other. A block lies in one member's arena, at its place: an offset in the segment. Where a
// peer's death is survived each rank has memory of its own instead, so that nobody can die while he
// writes what others read; the block's place is then only a name, the same on all ranks. Used by
// one thread.
class SharedResults {
 public:
  void add(std::uint64_t place, std::span<std::byte> memory);
  // The block that begins there; nothing if there is none.
  std::optional<std::uint64_t> place_of_block(const void* memory) const noexcept;
  void remove(std::uint64_t place) noexcept;

  // The name of a range that lies wholly in a block, and back: this rank's address of it, null if
  // there is no such range.
  std::optional<std::uint64_t> place_of(const void* memory, std::size_t bytes) const noexcept;
  std::byte* at(std::uint64_t place, std::size_t bytes) const noexcept;

  // Throws InvalidArgument unless the call's source is memory of `arena` that isn't shared itself,
  // and its destination is in a block.
  void check(const CollectiveCall& call, const Arena& arena) const;

 private:
  struct Block {
    std::uint64_t place;
    std::span<std::byte> memory;
  };
  std::vector<Block> blocks_;
};

}  // namespace tensorplay::distributed
