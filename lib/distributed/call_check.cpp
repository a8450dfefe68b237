#include "lib/distributed/call_check.h"

#include "lib/collectives/chunk_plan.h"
#include "lib/reduce/reduce_kernel.h"
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

// The most elements of a block that so many rounds can carry. Doesn't look at the call's own count,
// whose bytes may be more than can be counted.
std::size_t count_max(const CollectiveCall& call, int world_size) {
  CollectiveCall empty = call;
  empty.count = 0;
  const auto plan = collectives::ChunkPlan::of(Shape::of(empty, world_size), shm::kChunkBytes);
  return sync::kRoundsMax * plan.piece_bytes / element_bytes(call.dtype);
}

void check_size(const CollectiveCall& call, int world_size) {
  // What always fits, without a division.
  if (call.count <= shm::kPostBytes) return;
  const std::size_t most = count_max(call, world_size);
  if (call.count <= most) return;
  throw InvalidArgument(std::string(name(call.kind)) + ": a count of " +
                        std::to_string(call.count) + " elements of " + name(call.dtype) +
                        " is over the limit, which is " + std::to_string(most) + " for " +
                        std::to_string(world_size) + " ranks; divide the call");
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
  if (!shape.has_shared_result() && allowed_overlap(call, shape, rank) == source) return;
  throw InvalidArgument(std::string(name(call.kind)) +
                        ": source and destination overlap; pass separate buffers" +
                        (shape.has_shared_result() ? "" : ", or this rank's own block in place"));
}

}  // namespace

void check_call(const CollectiveCall& call, int rank, int world_size) {
  const Shape shape = Shape::of(call, world_size);
  if (shape.has_root()) check_root(call, world_size);
  if (shape.reduces() && !reduce::is_defined(call.dtype, call.op)) {
    reduce::kernel_for(call.dtype, call.op);  // says what is wrong
  }
  check_size(call, world_size);
  if (shape.is_source(rank)) check_pointer(call, "source", call.source, shape.source_bytes());
  if (shape.is_receiver(rank)) {
    check_pointer(call, "destination", call.destination, shape.destination_bytes());
  }
  check_overlap(call, shape, rank);
}

bool is_sound(const CollectiveCall& call, int world_size) noexcept {
  constexpr auto kKindMax = static_cast<int>(CollectiveKind::all_reduce_shared);
  const int kind = static_cast<int>(call.kind);
  if (kind < 1 || kind > kKindMax || element_bytes(call.dtype) == 0) return false;
  try {
    const Shape shape = Shape::of(call, world_size);
    if (shape.has_root()) check_root(call, world_size);
    if (shape.reduces()) reduce::kernel_for(call.dtype, call.op);
    check_size(call, world_size);
    return true;
  } catch (const InvalidArgument&) {
    return false;
  }
}

}  // namespace tensorplay::distributed
