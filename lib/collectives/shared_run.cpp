#include "lib/collectives/shared_run.h"

#include "lib/base/fault_point.h"
#include "lib/collectives/arena_place.h"
#include "lib/collectives/chunk_plan.h"
#include "lib/sync/arrival.h"
#include "lib/sync/failure.h"
#include "lib/sync/progress.h"

#include <tensorplay/error.h>

#include <algorithm>
#include <string>

namespace tensorplay::collectives {
namespace {

const std::byte* source_of(const Exchange& exchange, int member) {
  const auto& line = sync::arrival_line(exchange.memory->member(member), exchange.number);
  if ((line.flags & shm::kSourceInArena) == 0) {
    throw SegmentError("rank " + std::to_string(member) + " named no source in " +
                       distributed::name(exchange.shape.kind) + " (operation " +
                       std::to_string(exchange.number) + "): the segment is damaged");
  }
  return place_in_arena(exchange, member, 0, exchange.shape.source_bytes());
}

}  // namespace

SharedRun::SharedRun(const Exchange& exchange) : exchange_(exchange) {
  sources_.reserve(static_cast<std::size_t>(exchange_.contributors.count()));
  exchange_.contributors.for_each(
      [this](int member) { sources_.push_back(source_of(exchange_, member)); });
}

bool SharedRun::advance() {
  if (exchange_.supplies() && !reduced_) {
    if (!reduce_slice()) return false;
    reduced_ = true;
    fault_point("shared.reduced");
    sync::publish_progress(exchange_.memory->own().progress.consumed,
                           sync::progress_value(exchange_.number, 1));
    exchange_.memory->ring();
    fault_point("shared.consumed");
  }
  return exchange_.contributors.all_of([this](int member) { return !awaits(member); });
}

// Nobody waits for a joined rank in step: it neither has a slice nor reads a source, and it arrives
// at the next operation once it has done with this result.
bool SharedRun::awaits(int member) const {
  if (member == exchange_.self() || !exchange_.contributors.contains(member)) return false;
  return !sync::observe_progress(exchange_.memory->member(member).progress.consumed,
                                 sync::progress_value(exchange_.number, 1));
}

// False if the group has failed meanwhile.
bool SharedRun::reduce_slice() {
  int index = 0;
  exchange_.contributors.for_each([&](int other) { index += other < exchange_.self() ? 1 : 0; });
  const ByteRange own =
      slice_of(exchange_.shape.block_bytes, index, static_cast<int>(sources_.size()));
  for (std::size_t begin = own.begin; begin < own.end; begin += shm::kChunkBytes) {
    if (sync::has_failed(exchange_.memory->header())) return false;
    const void* sources[shm::kRankCountMax];
    std::ranges::transform(sources_, sources,
                           [begin](const std::byte* source) { return source + begin; });
    reduce_into(exchange_, exchange_.destination + begin, sources, sources_.size(),
                std::min(shm::kChunkBytes, own.end - begin));
    fault_point("shared.piece_reduced");
  }
  return true;
}

}  // namespace tensorplay::collectives
