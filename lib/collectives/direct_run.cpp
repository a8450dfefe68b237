#include "lib/collectives/direct_run.h"

#include "lib/base/fault_point.h"
#include "lib/collectives/arena_place.h"
#include "lib/collectives/chunk_plan.h"
#include "lib/sync/arrival.h"
#include "lib/sync/failure.h"
#include "lib/sync/progress.h"

#include <algorithm>

namespace tensorplay::collectives {
namespace {

const shm::ArrivalLine& line_of(const Exchange& exchange, int member) {
  return sync::arrival_line(exchange.memory->member(member), exchange.number);
}

bool is_all_reduce(const Exchange& exchange) noexcept {
  return exchange.shape.kind == CollectiveKind::all_reduce;
}

}  // namespace

bool DirectRun::possible(const Exchange& exchange) {
  const bool sources = exchange.sources.all_of(
      [&](int member) { return (line_of(exchange, member).flags & shm::kSourceInArena) != 0; });
  if (!is_all_reduce(exchange)) return sources;
  return sources && exchange.participants.all_of([&](int member) {
    return (line_of(exchange, member).flags & shm::kDestinationInArena) != 0;
  });
}

DirectRun::DirectRun(const Exchange& exchange)
    : exchange_(exchange),
      sources_(static_cast<std::size_t>(exchange.shape.world_size)),
      destinations_(sources_.size()) {
  const std::size_t bytes = exchange_.shape.source_bytes();
  exchange_.sources.for_each([&](int member) {
    sources_[static_cast<std::size_t>(member)] = place_in_arena(exchange_, member, 0, bytes);
  });
  if (!is_all_reduce(exchange_)) return;
  exchange_.participants.for_each([&](int member) {
    destinations_[static_cast<std::size_t>(member)] = place_in_arena(exchange_, member, 1, bytes);
  });
}

// Whether this rank reads or writes other ranks' buffers.
bool DirectRun::moves_data() const noexcept {
  return is_all_reduce(exchange_) ? exchange_.supplies() : exchange_.receives();
}

bool DirectRun::advance() {
  if (!moved_) {
    if (!move_data()) return false;
    moved_ = true;
    fault_point("direct.moved");
    sync::publish_progress(exchange_.memory->own().progress.consumed,
                           sync::progress_value(exchange_.number, 1));
    exchange_.memory->ring();
    fault_point("direct.consumed");
  }
  return exchange_.participants.all_of([this](int member) { return !awaits(member); });
}

bool DirectRun::awaits(int member) const {
  if (member == exchange_.self() || !exchange_.participants.contains(member)) return false;
  // Who neither lent its source nor gets its result from others has nobody to wait for.
  if (!exchange_.supplies() && !is_all_reduce(exchange_)) return false;
  return !sync::observe_progress(exchange_.memory->member(member).progress.consumed,
                                 sync::progress_value(exchange_.number, 1));
}

// What this rank has to do. False if the group has failed meanwhile.
bool DirectRun::move_data() {
  if (!moves_data()) return true;
  if (is_all_reduce(exchange_)) return reduce_slice();
  read_sources();
  return true;
}

void DirectRun::read_sources() {
  const std::size_t block =
      static_cast<std::size_t>(exchange_.shape.block_read_by(exchange_.self())) *
      exchange_.shape.block_bytes;
  deliver(exchange_, 0, exchange_.shape.block_bytes, [&](int member) -> const std::byte* {
    return sources_[static_cast<std::size_t>(member)] + block;
  });
}

// In pieces that stay in the cache between being reduced and being copied to the others.
bool DirectRun::reduce_slice() {
  int index = 0;
  exchange_.contributors.for_each([&](int other) { index += other < exchange_.self() ? 1 : 0; });
  const ByteRange own =
      slice_of(exchange_.shape.block_bytes, index, exchange_.contributors.count());
  for (std::size_t begin = own.begin; begin < own.end; begin += shm::kChunkBytes) {
    const std::size_t bytes = std::min(shm::kChunkBytes, own.end - begin);
    const void* sources[shm::kRankCountMax];
    std::size_t source_count = 0;
    exchange_.sources.for_each([&](int member) {
      sources[source_count++] = sources_[static_cast<std::size_t>(member)] + begin;
    });
    std::byte* result = destinations_[static_cast<std::size_t>(exchange_.self())] + begin;
    reduce_into(exchange_, result, sources, source_count, bytes);
    fault_point("direct.piece_reduced");
    if (!copy_to_all(begin, result, bytes)) return false;
    fault_point("direct.piece_moved");
  }
  return true;
}

// Whoever has been told of the group's failure has its memory back: so this rank, which may have
// been stopped for a while, looks before it writes there. False if it has failed.
bool DirectRun::copy_to_all(std::size_t begin, const std::byte* result, std::size_t bytes) {
  return exchange_.participants.all_of([&](int member) {
    if (sync::has_failed(exchange_.memory->header())) return false;
    copy_out(exchange_, destinations_[static_cast<std::size_t>(member)] + begin, result, bytes);
    return true;
  });
}

}  // namespace tensorplay::collectives
