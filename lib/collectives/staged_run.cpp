#include "lib/collectives/staged_run.h"

#include "lib/base/fault_point.h"
#include "lib/sync/arrival.h"
#include "lib/sync/progress.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace tensorplay::collectives {
namespace {

MemberSet readers_of(const Exchange& exchange) {
  MemberSet readers;
  exchange.participants.for_each([&](int member) {
    if (member != exchange.self() && exchange.shape.is_receiver(member)) readers.insert(member);
  });
  return readers;
}

// The place of `member` among the contributors: its index as a worker.
int worker_index(const MemberSet& contributors, int member) {
  int index = 0;
  contributors.for_each([&](int other) { index += other < member ? 1 : 0; });
  return index;
}

// Round k of every block of `source`.
void stage_blocks(const Shape& shape, const ChunkPlan& plan, std::uint64_t k,
                  const std::byte* source, std::byte* buffer) noexcept {
  const ByteRange range = plan.round(k);
  for (int block = 0; block < shape.source_blocks(); ++block) {
    std::memcpy(buffer + static_cast<std::size_t>(block) * plan.piece_bytes,
                source + static_cast<std::size_t>(block) * shape.block_bytes + range.begin,
                range.size());
  }
}

bool is_crowded(const Exchange& exchange) {
  return !exchange.participants.all_of([&](int member) {
    const shm::MemberBlock& block = exchange.memory->member(member);
    return (sync::arrival_line(block, exchange.number).flags & shm::kCrowded) == 0;
  });
}

// The same on every rank. By slices each rank reads less, but has one word more to wait for: that
// takes a line transfer, or, where ranks share CPUs, some switches of processes.
bool takes_two_phases(const Exchange& exchange, const ChunkPlan& plan) {
  constexpr std::size_t kReadInOnePhase = 64 * 1024;
  constexpr std::size_t kReadInOnePhaseCrowded = 256 * 1024;
  if (exchange.shape.kind != CollectiveKind::all_reduce) return false;
  if (plan.rounds > 1) return true;
  const auto others = static_cast<std::size_t>(exchange.contributors.count() - 1);
  return others * exchange.shape.block_bytes >
         (is_crowded(exchange) ? kReadInOnePhaseCrowded : kReadInOnePhase);
}

}  // namespace

bool stage_ahead(const GroupMemory& memory, StagingLease& lease, std::uint64_t number,
                 const Shape& shape, const std::byte* source) {
  const ChunkPlan plan = ChunkPlan::of(shape, shm::kChunkBytes);
  // In two phases nobody reads a rank's own slice of a round: not to be copied without need.
  const bool pays = shape.kind != CollectiveKind::all_reduce || plan.rounds == 1;
  if (!pays || !lease.is_free(memory, number)) return false;
  stage_blocks(shape, plan, 0, source, memory.staging(memory.self(), number));
  return true;
}

StagedRun::StagedRun(const Exchange& exchange, StagingLease& lease)
    : exchange_(exchange),
      plan_(ChunkPlan::of(exchange.shape, shm::kChunkBytes)),
      two_phases_(takes_two_phases(exchange, plan_)),
      lease_(lease),
      readers_(readers_of(exchange)),
      staged_(exchange.staged_ahead ? 1 : 0) {
  // Now it's known who reads it.
  if (staged_ != 0) lease_.take(slot(0), value(1), readers_);
}

std::uint64_t StagedRun::value(std::uint64_t rounds) const noexcept {
  return sync::progress_value(exchange_.number, rounds);
}

bool StagedRun::done() const noexcept {
  return (!exchange_.supplies() || staged_ == plan_.rounds) &&
         (!exchange_.receives() || consumed_ == plan_.rounds);
}

bool StagedRun::advance() {
  // Consuming first frees the buffers that the others wait for.
  while (try_consume() || try_reduce() || try_stage()) {
  }
  return done();
}

bool StagedRun::awaits(int member) const {
  if (member == exchange_.self() || !exchange_.participants.contains(member)) return false;
  const shm::Progress& progress = exchange_.memory->member(member).progress;
  if (exchange_.supplies() && staged_ < plan_.rounds) {
    const bool frees = !readers_.contains(member) ||
                       sync::observe_progress(progress.consumed, value(plan_.rounds));
    if (!frees || lease_.is_held_by(*exchange_.memory, slot(staged_), member)) return true;
  }
  if (!exchange_.receives() || !exchange_.sources.contains(member)) return false;
  return !has_staged(member, plan_.rounds) ||
         (two_phases_ && !sync::observe_progress(progress.reduced, value(plan_.rounds)));
}

bool StagedRun::has_staged(int member, std::uint64_t rounds) const noexcept {
  const shm::MemberBlock& block = exchange_.memory->member(member);
  const bool ahead = (sync::arrival_line(block, exchange_.number).flags & shm::kStagedAhead) != 0;
  return (ahead && rounds == 1) || sync::observe_progress(block.progress.staged, value(rounds));
}

bool StagedRun::try_stage() {
  if (!exchange_.supplies() || staged_ == plan_.rounds) return false;
  if (!lease_.is_free(*exchange_.memory, slot(staged_))) return false;
  stage(staged_);
  ++staged_;
  lease_.take(slot(staged_ - 1), value(staged_), readers_);
  fault_point("staged.before_staged");
  sync::publish_progress(exchange_.memory->own().progress.staged, value(staged_));
  exchange_.memory->ring();
  fault_point("staged.staged");
  return true;
}

bool StagedRun::try_reduce() {
  if (!two_phases_ || !exchange_.supplies() || reduced_ == staged_) return false;
  const bool ready = exchange_.contributors.all_of([this](int member) {
    return member == exchange_.self() || has_staged(member, reduced_ + 1);
  });
  if (!ready) return false;
  reduce(reduced_);
  ++reduced_;
  fault_point("staged.before_reduced");
  sync::publish_progress(exchange_.memory->own().progress.reduced, value(reduced_));
  exchange_.memory->ring();
  fault_point("staged.reduced");
  return true;
}

bool StagedRun::try_consume() {
  if (!exchange_.receives() || consumed_ == plan_.rounds) return false;
  const bool ready = exchange_.sources.all_of([this](int member) {
    if (member == exchange_.self()) return (two_phases_ ? reduced_ : staged_) > consumed_;
    if (!two_phases_) return has_staged(member, consumed_ + 1);
    const shm::Progress& progress = exchange_.memory->member(member).progress;
    return sync::observe_progress(progress.reduced, value(consumed_ + 1));
  });
  if (!ready) return false;
  consume(consumed_);
  ++consumed_;
  fault_point("staged.before_consumed");
  sync::publish_progress(exchange_.memory->own().progress.consumed, value(consumed_));
  exchange_.memory->ring();
  fault_point("staged.consumed");
  return true;
}

void StagedRun::stage(std::uint64_t k) noexcept {
  if (readers_.empty()) return;
  std::byte* buffer = exchange_.memory->staging(exchange_.self(), slot(k));
  if (two_phases_) return stage_others_slices(plan_.round(k), buffer);
  stage_blocks(exchange_.shape, plan_, k, exchange_.source, buffer);
}

// All but this rank's own slice, which nobody else reads.
void StagedRun::stage_others_slices(ByteRange range, std::byte* buffer) noexcept {
  const ByteRange own = slice(exchange_.self(), range.size());
  std::memcpy(buffer, exchange_.source + range.begin, own.begin);
  std::memcpy(buffer + own.end, exchange_.source + range.begin + own.end, range.size() - own.end);
}

ByteRange StagedRun::slice(int member, std::size_t bytes) const noexcept {
  return slice_of(bytes, worker_index(exchange_.contributors, member),
                  exchange_.contributors.count());
}

void StagedRun::reduce(std::uint64_t k) {
  const ByteRange range = plan_.round(k);
  const ByteRange own = slice(exchange_.self(), range.size());
  const void* sources[shm::kRankCountMax];
  std::size_t source_count = 0;
  exchange_.contributors.for_each([&](int member) {
    sources[source_count++] = member == exchange_.self()
                                  ? exchange_.source + range.begin + own.begin
                                  : buffer_of(member, k) + own.begin;
  });
  // To where this rank needs it, and from there, while it's in the cache, to where the others do.
  std::byte* result = exchange_.destination + range.begin + own.begin;
  reduce_into(exchange_, result, sources, source_count, own.size());
  if (own.size() == 0 || readers_.empty()) return;
  std::memcpy(exchange_.memory->staging(exchange_.self(), slot(k)) + own.begin, result, own.size());
}

void StagedRun::consume(std::uint64_t k) {
  if (exchange_.shape.block_bytes == 0) return;
  if (two_phases_) return collect_slices(k);
  const ByteRange range = plan_.round(k);
  const int block = exchange_.shape.block_read_by(exchange_.self());
  deliver(exchange_, range.begin, range.end, [&](int member) -> const std::byte* {
    if (member == exchange_.self()) return exchange_.own_block(block) + range.begin;
    return buffer_of(member, k) + static_cast<std::size_t>(block) * plan_.piece_bytes;
  });
}

void StagedRun::collect_slices(std::uint64_t k) noexcept {
  const ByteRange range = plan_.round(k);
  exchange_.contributors.for_each([&](int member) {
    if (member == exchange_.self()) return;  // it's there already: see reduce()
    const ByteRange part = slice(member, range.size());
    copy_out(exchange_, exchange_.destination + range.begin + part.begin,
             buffer_of(member, k) + part.begin, part.size());
  });
}

}  // namespace tensorplay::collectives
