// What a collective moves: the arithmetic that all algorithms share.
//
// Symbols: W ranks; a block is `count` elements, B bytes. A source has 1 or W blocks, a destination
// 1 or W blocks; each receiver reads one block of every source.
//
//   kind            sources  blocks  receivers  reads block    writes
//   --------------- -------- ------- ---------- -------------- ----------------------------------
//   barrier         none     0       none
//   all_reduce      all      1       all        0              one block, reduced
//   all_reduce_     all      1       all        0              one block, reduced, that all read
//     shared                                                   where it lies
//   reduce          all      1       root       0              one block, reduced
//   reduce_scatter  all      W       all        its own        one block, reduced
//   broadcast       root     1       all        0              one block
//   scatter         root     W       all        its own        one block
//   all_gather      all      1       all        0              W blocks, by source
//   gather          all      1       root       0              W blocks, by source
//   all_to_all      all      W       all        its own        W blocks, by source
#pragma once

#include <tensorplay/distributed/collective_call.h>

#include <cstddef>

namespace tensorplay::collectives {

using distributed::CollectiveKind;

// The shape of one call in a group of so many ranks. Pure arithmetic; the same on every rank.
// Inline, as a small operation asks it a dozen times.
struct Shape {
  CollectiveKind kind = CollectiveKind::barrier;
  int world_size = 1;
  int root = 0;
  std::size_t count = 0;  // elements of a block
  std::size_t element_bytes = 1;
  std::size_t block_bytes = 0;  // B

  static Shape of(const distributed::CollectiveCall& call, int world_size) noexcept;

  bool has_root() const noexcept;
  bool root_supplies() const noexcept;  // the values come from the root alone
  bool reduces() const noexcept;
  // Everybody receives the same reduced block: one that the contributors reduce slice by slice.
  bool reduces_for_all() const noexcept;
  bool has_shared_result() const noexcept { return kind == CollectiveKind::all_reduce_shared; }
  // Whether a contributor of this rank passes a source, and a participant wants a destination.
  bool is_source(int rank) const noexcept;
  bool is_receiver(int rank) const noexcept;
  // Blocks of a source, and of a destination: 0, 1 or W.
  int source_blocks() const noexcept;
  int destination_blocks() const noexcept;
  // Which block of a source `receiver` reads, and which block of a destination comes from `source`.
  int block_read_by(int receiver) const noexcept;
  int block_written_from(int source) const noexcept;

  std::size_t source_bytes() const noexcept {
    return static_cast<std::size_t>(source_blocks()) * block_bytes;
  }
  std::size_t destination_bytes() const noexcept {
    return static_cast<std::size_t>(destination_blocks()) * block_bytes;
  }
};

inline Shape Shape::of(const distributed::CollectiveCall& call, int world_size) noexcept {
  const std::size_t bytes = tensorplay::element_bytes(call.dtype);
  return {call.kind, world_size, call.root, call.count, bytes, call.count * bytes};
}

inline bool Shape::has_root() const noexcept {
  return kind == CollectiveKind::reduce || kind == CollectiveKind::broadcast ||
         kind == CollectiveKind::gather || kind == CollectiveKind::scatter;
}

inline bool Shape::root_supplies() const noexcept {
  return kind == CollectiveKind::broadcast || kind == CollectiveKind::scatter;
}

inline bool Shape::reduces() const noexcept {
  return reduces_for_all() || kind == CollectiveKind::reduce ||
         kind == CollectiveKind::reduce_scatter;
}

inline bool Shape::reduces_for_all() const noexcept {
  return kind == CollectiveKind::all_reduce || has_shared_result();
}

inline bool Shape::is_source(int rank) const noexcept {
  if (kind == CollectiveKind::barrier) return false;
  return !root_supplies() || rank == root;
}

inline bool Shape::is_receiver(int rank) const noexcept {
  if (kind == CollectiveKind::barrier) return false;
  const bool only_root = kind == CollectiveKind::reduce || kind == CollectiveKind::gather;
  return !only_root || rank == root;
}

inline int Shape::source_blocks() const noexcept {
  switch (kind) {
    case CollectiveKind::barrier:
      return 0;
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::scatter:
    case CollectiveKind::all_to_all:
      return world_size;
    default:
      return 1;
  }
}

inline int Shape::destination_blocks() const noexcept {
  switch (kind) {
    case CollectiveKind::barrier:
      return 0;
    case CollectiveKind::all_gather:
    case CollectiveKind::gather:
    case CollectiveKind::all_to_all:
      return world_size;
    default:
      return 1;
  }
}

inline int Shape::block_read_by(int receiver) const noexcept {
  return source_blocks() > 1 ? receiver : 0;
}

inline int Shape::block_written_from(int source) const noexcept {
  return destination_blocks() > 1 ? source : 0;
}

}  // namespace tensorplay::collectives
