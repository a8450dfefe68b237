#include "lib/distributed/call_check.h"

#include "lib/collectives/chunk_plan.h"
#include "lib/distributed/report.h"
#include "lib/sync/progress.h"

#include <tensorplay/error.h>

#include <functional>
#include <string>

namespace tensorplay::distributed {
namespace {

using collectives::Shape;

void check_root(const CollectiveCall& call, int world_size) {
  if (call.root >= 0 && call.root < world_size) return;
  throw InvalidArgument(std::string(name(call.kind)) + ": root " + std::to_string(call.root) +
                        " is outside the group of " + std::to_string(world_size) +
                        " ranks; pass 0 to " + std::to_string(world_size - 1));
}

void check_size(const CollectiveCall& call, const Shape& shape) {
  constexpr std::size_t kSourceBytesMax = std::size_t{1} << 36;
  const auto blocks = static_cast<std::size_t>(shape.source_blocks());
  const std::size_t element = element_bytes(call.dtype);
  const std::size_t most = blocks == 0 ? 0 : kSourceBytesMax / blocks / element;
  static_assert(kSourceBytesMax / (shm::kChunkBytes / 2) <= 2 * sync::kRoundsMax + 2);
  const bool fits = call.count <= most &&
                    (blocks == 0 || collectives::ChunkPlan::of(shape, shm::kChunkBytes).rounds <=
                                        sync::kRoundsMax);
  if (fits) return;
  throw InvalidArgument(std::string(name(call.kind)) + ": a count of " +
                        std::to_string(call.count) + " elements of " + name(call.dtype) +
                        " is over the limit of " + std::to_string(most) +
                        " (64 GiB per source); divide the call");
}

void check_pointer(const CollectiveCall& call, const char* what, const void* pointer,
                   std::size_t bytes) {
  if (pointer != nullptr || bytes == 0) return;
  throw InvalidArgument(std::string(name(call.kind)) + ": the " + what + " is null but " +
                        std::to_string(bytes) + " bytes are expected");
}

// The one place where the source may lie inside the destination, or the other way round; null if
// there is none.
const std::byte* allowed_overlap(const CollectiveCall& call, const Shape& shape, int rank) {
  const auto* source = static_cast<const std::byte*>(call.source);
  const auto* destination = static_cast<const std::byte*>(call.destination);
  const std::size_t own = static_cast<std::size_t>(rank) * shape.block_bytes;
  if (shape.source_blocks() == 1 && shape.destination_blocks() == 1) return destination;
  if (shape.destination_blocks() > 1 && shape.source_blocks() == 1) return destination + own;
  if (shape.source_blocks() > 1 && shape.destination_blocks() == 1) {
    return destination == source + own ? source : nullptr;
  }
  return nullptr;
}

void check_overlap(const CollectiveCall& call, const Shape& shape, int rank) {
  if (!shape.is_source(rank) || !shape.is_receiver(rank)) return;
  const auto* source = static_cast<const std::byte*>(call.source);
  const auto* destination = static_cast<const std::byte*>(call.destination);
  const std::size_t source_bytes = shape.source_bytes();
  const std::size_t destination_bytes = shape.destination_bytes();
  const std::less<const std::byte*> before;
  if (source_bytes == 0 || destination_bytes == 0) return;
  if (!before(source, destination + destination_bytes) ||
      !before(destination, source + source_bytes)) {
    return;
  }
  if (allowed_overlap(call, shape, rank) == source) return;
  throw InvalidArgument(std::string(name(call.kind)) +
                        ": source and destination overlap; pass separate buffers, or this rank's "
                        "own block in place");
}

}  // namespace

void check_call(const CollectiveCall& call, int rank, int world_size) {
  const Shape shape = Shape::of(call, world_size);
  if (shape.has_root()) check_root(call, world_size);
  if (shape.reduces()) reduce::kernel_for(call.dtype, call.op);
  check_size(call, shape);
  if (shape.is_source(rank)) check_pointer(call, "source", call.source, shape.source_bytes());
  if (shape.is_receiver(rank)) {
    check_pointer(call, "destination", call.destination, shape.destination_bytes());
  }
  check_overlap(call, shape, rank);
}

bool is_sound(const CollectiveCall& call, int world_size) noexcept {
  constexpr auto kKindMax = static_cast<int>(CollectiveKind::all_to_all);
  const int kind = static_cast<int>(call.kind);
  if (kind < 1 || kind > kKindMax || element_bytes(call.dtype) == 0) return false;
  try {
    const Shape shape = Shape::of(call, world_size);
    if (shape.has_root()) check_root(call, world_size);
    if (shape.reduces()) reduce::kernel_for(call.dtype, call.op);
    check_size(call, shape);
    return true;
  } catch (const InvalidArgument&) {
    return false;
  }
}

}  // namespace tensorplay::distributed
