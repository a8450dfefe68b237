#include "lib/collectives/exchange.h"

#include "lib/reduce/streaming_copy.h"

#include <tensorplay/error.h>

#include <bit>
#include <cstring>
#include <functional>
#include <string>

namespace tensorplay::collectives {

void move_bytes(std::byte* destination, const std::byte* source, std::size_t bytes) noexcept {
  if (destination != source && bytes != 0) std::memmove(destination, source, bytes);
}

void copy_out(const Exchange& exchange, std::byte* destination, const std::byte* source,
              std::size_t bytes) noexcept {
  const std::less_equal<const std::byte*> not_behind;
  const bool apart =
      not_behind(destination + bytes, source) || not_behind(source + bytes, destination);
  if (exchange.streams && apart) return reduce::streaming_copy(destination, source, bytes);
  move_bytes(destination, source, bytes);
}

void reduce_into(const Exchange& exchange, std::byte* destination, const void* const* sources,
                 std::size_t source_count, std::size_t bytes) {
  if (bytes == 0) return;
  if (source_count == 0) {
    throw SegmentError("nobody contributes to operation " + std::to_string(exchange.number) +
                       ", which somebody called: the segment is damaged");
  }
  const Shape& shape = exchange.shape;
  // A division would take as long as all the rest of a small reduction.
  const std::size_t count = bytes >> std::countr_zero(shape.element_bytes);
  exchange.kernel(
      {destination, sources, source_count, count, static_cast<std::uint32_t>(source_count)});
}

void zero_absent_blocks(const Exchange& exchange, std::size_t begin, std::size_t end) noexcept {
  if (exchange.shape.destination_blocks() <= 1 || begin == end) return;
  for (int rank = 0; rank < exchange.shape.world_size; ++rank) {
    if (exchange.sources.contains(rank)) continue;
    std::memset(exchange.destination_block(rank) + begin, 0, end - begin);
  }
}

}  // namespace tensorplay::collectives
