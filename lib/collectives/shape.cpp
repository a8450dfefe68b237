#include "lib/collectives/shape.h"

namespace tensorplay::collectives {

Shape Shape::of(const distributed::CollectiveCall& call, int world_size) noexcept {
  return {call.kind, world_size, call.root, call.count, call.count * element_bytes(call.dtype)};
}

bool Shape::has_root() const noexcept {
  return kind == CollectiveKind::reduce || kind == CollectiveKind::broadcast ||
         kind == CollectiveKind::gather || kind == CollectiveKind::scatter;
}

bool Shape::root_supplies() const noexcept {
  return kind == CollectiveKind::broadcast || kind == CollectiveKind::scatter;
}

bool Shape::reduces() const noexcept {
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce ||
         kind == CollectiveKind::reduce_scatter;
}

bool Shape::is_source(int rank) const noexcept {
  if (kind == CollectiveKind::barrier) return false;
  return !root_supplies() || rank == root;
}

bool Shape::is_receiver(int rank) const noexcept {
  if (kind == CollectiveKind::barrier) return false;
  const bool only_root = kind == CollectiveKind::reduce || kind == CollectiveKind::gather;
  return !only_root || rank == root;
}

int Shape::source_blocks() const noexcept {
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

int Shape::destination_blocks() const noexcept {
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

int Shape::block_read_by(int receiver) const noexcept {
  return source_blocks() > 1 ? receiver : 0;
}

int Shape::block_written_from(int source) const noexcept {
  return destination_blocks() > 1 ? source : 0;
}

}  // namespace tensorplay::collectives
