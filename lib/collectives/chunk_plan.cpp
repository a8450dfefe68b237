#include "lib/collectives/chunk_plan.h"

#include "lib/base/cache_line.h"
#include "lib/shm/layout.h"

#include <algorithm>

namespace tensorplay::collectives {

ChunkPlan ChunkPlan::of(const Shape& shape, std::size_t chunk_bytes) noexcept {
  static_assert(shm::kChunkBytes / shm::kRankCountMax >= kLineBytes,
                "every block gets a line at least");
  const auto blocks = static_cast<std::size_t>(std::max(shape.source_blocks(), 1));
  ChunkPlan plan;
  plan.block_bytes = shape.block_bytes;
  plan.piece_bytes = chunk_bytes / blocks / kLineBytes * kLineBytes;
  plan.rounds =
      std::max<std::uint64_t>(1, (shape.block_bytes + plan.piece_bytes - 1) / plan.piece_bytes);
  return plan;
}

ByteRange ChunkPlan::round(std::uint64_t k) const noexcept {
  const std::size_t begin = std::min(static_cast<std::size_t>(k) * piece_bytes, block_bytes);
  return {begin, std::min(begin + piece_bytes, block_bytes)};
}

ByteRange slice_of(std::size_t bytes, int index, int workers) noexcept {
  const std::size_t lines = (bytes + kLineBytes - 1) / kLineBytes;
  const auto share = [&](int i) {
    return std::min(bytes, lines * static_cast<std::size_t>(i) / static_cast<std::size_t>(workers) *
                               kLineBytes);
  };
  return {share(index), share(index + 1)};
}

}  // namespace tensorplay::collectives
