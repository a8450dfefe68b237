#include "lib/collectives/arena_place.h"

#include "lib/sync/arrival.h"

#include <tensorplay/error.h>

#include <string>

namespace tensorplay::collectives {

std::byte* place_in_arena(const Exchange& exchange, int member, std::size_t index,
                          std::size_t bytes) {
  const auto& line = sync::arrival_line(exchange.memory->member(member), exchange.number);
  const std::uint64_t offset = sync::named_place(line, index);
  const shm::Segment& segment = exchange.memory->segment();
  const auto arena = segment.arena(exchange.memory->world_rank(member));
  const std::size_t begin = segment.offset_of(arena.data());
  const bool is_inside =
      offset >= begin && bytes <= arena.size() && offset - begin <= arena.size() - bytes;
  const bool is_aligned = offset % exchange.shape.element_bytes == 0;
  if (!is_inside || !is_aligned) {
    throw SegmentError("rank " + std::to_string(member) + " named a buffer that " +
                       (is_inside ? "elements don't lie in" : "isn't in its arena") + " in " +
                       distributed::name(exchange.shape.kind) + " (operation " +
                       std::to_string(exchange.number) + "): the segment is damaged");
  }
  return segment.at(offset);
}

}  // namespace tensorplay::collectives
