#include "lib/collectives/staged_run.h"

#include "lib/base/fault_point.h"
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

}  // namespace

StagedRun::StagedRun(const Exchange& exchange, StagingLease& lease)
    : exchange_(exchange),
      plan_(ChunkPlan::of(exchange.shape, shm::kChunkBytes)),
      before_(lease),
      readers_(readers_of(exchange)) {
  if (exchange_.supplies()) lease = {value(plan_.rounds), readers_};
}

bool StagedRun::two_phases() const noexcept {
  return exchange_.shape.kind == CollectiveKind::all_reduce && 
         (exchange_.contributors.count() > 2 || plan_.rounds > 1);
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
    const bool frees_old = !before_.readers.contains(member) ||
                           sync::observe_progress(progress.consumed, before_.consumed);
    const bool frees_new = !readers_.contains(member) ||
                           sync::observe_progress(progress.consumed, value(plan_.rounds));
    if (!frees_old || !frees_new) return true;
  }
  if (!exchange_.receives() || !exchange_.sources.contains(member)) return false;
  return !sync::observe_progress(progress.staged, value(plan_.rounds)) ||
         (two_phases() && !sync::observe_progress(progress.reduced, value(plan_.rounds)));
}

bool StagedRun::staging_free(std::uint64_t k) const noexcept {
  const GroupMemory& memory = *exchange_.memory;
  const auto all_reached = [&memory](const MemberSet& readers, std::uint64_t wanted) {
    return readers.all_of([&](int member) {
      return sync::observe_progress(memory.member(member).progress.consumed, wanted);
    });
  };
  if (k < shm::kStagingBuffers) return all_reached(before_.readers, before_.consumed);
  return all_reached(readers_, value(k - shm::kStagingBuffers + 1));
}

bool StagedRun::try_stage() {
  if (!exchange_.supplies() || staged_ == plan_.rounds || !staging_free(staged_)) return false;
  stage(staged_);
  ++staged_;
  fault_point("staged.before_staged");
  sync::publish_progress(exchange_.memory->own().progress.staged, value(staged_));
  exchange_.memory->ring();
  fault_point("staged.staged");
  return true;
}

bool StagedRun::try_reduce() {
  if (!two_phases() || !exchange_.supplies() || reduced_ == staged_) return false;
  const bool ready = exchange_.contributors.all_of([this](int member) {
    return member == exchange_.self() ||
           sync::observe_progress(exchange_.memory->member(member).progress.staged,
                                  value(reduced_ + 1));
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
    const shm::Progress& progress = exchange_.memory->member(member).progress;
    if (member == exchange_.self()) return (two_phases() ? reduced_ : staged_) > consumed_;
    return sync::observe_progress(two_phases() ? progress.reduced : progress.staged,
                                  value(consumed_ + 1));
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
  const ByteRange range = plan_.round(k);
  std::byte* buffer = exchange_.memory->staging(exchange_.self(), k);
  if (two_phases()) return stage_others_slices(range, buffer);
  for (int block = 0; block < exchange_.shape.source_blocks(); ++block) {
    std::memcpy(buffer + static_cast<std::size_t>(block) * plan_.piece_bytes,
                exchange_.own_block(block) + range.begin, range.size());
  }
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
                                  : exchange_.memory->staging(member, k) + own.begin;
  });
  // To where this rank needs it, and from there, while it's in the cache, to where the others do.
  std::byte* result = exchange_.destination + range.begin + own.begin;
  reduce_into(exchange_, result, sources, source_count, own.size());
  if (own.size() == 0 || readers_.empty()) return;
  std::memcpy(exchange_.memory->staging(exchange_.self(), k) + own.begin, result, own.size());
}

void StagedRun::consume(std::uint64_t k) {
  if (exchange_.shape.block_bytes == 0) return;
  if (two_phases()) return collect_slices(k);
  const ByteRange range = plan_.round(k);
  const int block = exchange_.shape.block_read_by(exchange_.self());
  deliver(exchange_, range.begin, range.end, [&](int member) -> const std::byte* {
    if (member == exchange_.self()) return exchange_.own_block(block) + range.begin;
    return exchange_.memory->staging(member, k) +
           static_cast<std::size_t>(block) * plan_.piece_bytes;
  });
}

void StagedRun::collect_slices(std::uint64_t k) noexcept {
  const ByteRange range = plan_.round(k);
  exchange_.contributors.for_each([&](int member) {
    if (member == exchange_.self()) return;  // it's there already: see reduce()
    const ByteRange part = slice(member, range.size());
    copy_out(exchange_, exchange_.destination + range.begin + part.begin,
             exchange_.memory->staging(member, k) + part.begin, part.size());
  });
}

}  // namespace tensorplay::collectives
