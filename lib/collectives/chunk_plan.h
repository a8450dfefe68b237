// How a large operation is cut into rounds, and a round into slices. Pure arithmetic.
#pragma once

#include "lib/collectives/shape.h"
#include "lib/shm/layout.h"

#include <cstddef>
#include <cstdint>

namespace tensorplay::collectives {

// A range of bytes.
struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t size() const noexcept { return end - begin; }
};

// Which of the ways to run an operation: by its kind and the bytes of one source alone, so that all
// ranks agree. A result that lies once isn't for every rank to write: whatever its size, it's made
// by slices.
enum class Algorithm {
  inline_line,  // the payload lies in the arrival line
  one_shot,     // the payload lies in the post slot; every receiver reads all sources
  large,        // in rounds through the staging buffers, or straight from the arenas
};
inline Algorithm algorithm_for(const Shape& shape) noexcept {
  const std::size_t bytes = shape.source_bytes();
  if (shape.has_shared_result() && bytes != 0) return Algorithm::large;
  if (bytes <= shm::kInlineBytes) return Algorithm::inline_line;
  return bytes <= shm::kPostBytes ? Algorithm::one_shot : Algorithm::large;
}

// Round k of a large operation carries bytes [k * piece, (k + 1) * piece) of every block of a
// source; in a staging buffer piece q of the round begins at q * piece_bytes.
struct ChunkPlan {
  std::size_t block_bytes = 0;
  std::size_t piece_bytes = 0;  // of one block, per round; whole lines
  std::uint64_t rounds = 0;     // at least 1

  // The plan in staging buffers of `chunk_bytes`, of which every block gets its share.
  static ChunkPlan of(const Shape& shape, std::size_t chunk_bytes) noexcept;

  // The bytes of a block that round k carries.
  ByteRange round(std::uint64_t k) const noexcept;
};

// The part of `bytes` bytes that worker `index` of `workers` reduces: whole lines, as equal as
// lines allow, ascending by index; together they are everything, without overlap.
ByteRange slice_of(std::size_t bytes, int index, int workers) noexcept;

}  // namespace tensorplay::collectives
