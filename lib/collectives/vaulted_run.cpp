#include "lib/collectives/vaulted_run.h"

#include "lib/base/fault_point.h"
#include "lib/collectives/arena_place.h"
#include "lib/collectives/chunk_plan.h"
#include "lib/sync/arrival.h"
#include "lib/sync/progress.h"

#include <tensorplay/error.h>

#include <algorithm>
#include <string>

namespace tensorplay::collectives {
namespace {

std::size_t whole_pages(std::size_t bytes) noexcept {
  return (bytes + shm::kPageBytes - 1) / shm::kPageBytes * shm::kPageBytes;
}

}  // namespace

std::size_t vault_result_offset(const Shape& shape) noexcept {
  return whole_pages(shape.source_bytes());
}

std::size_t vault_bytes(const Shape& shape) noexcept {
  // The last slice of two is the largest that is ever reduced into a vault: see find_workers().
  const bool divided = shape.reduces_for_all();
  return vault_result_offset(shape) +
         (divided ? whole_pages(slice_of(shape.block_bytes, 1, 2).size()) : 0);
}

VaultedRun::VaultedRun(const Exchange& exchange)
    : exchange_(exchange), vaults_(static_cast<std::size_t>(exchange.shape.world_size)) {
  exchange_.sources.for_each(
      [this](int member) { vaults_[static_cast<std::size_t>(member)] = vault_of(member); });
  if (is_all_reduce()) find_workers();
}

bool VaultedRun::is_all_reduce() const noexcept {
  return exchange_.shape.reduces_for_all();
}

std::byte* VaultedRun::vault_of(int member) const {
  const auto& line = sync::arrival_line(exchange_.memory->member(member), exchange_.number);
  if ((line.flags & shm::kVaulted) == 0) {
    throw SegmentError("rank " + std::to_string(member) + " named no vault in " +
                       distributed::name(exchange_.shape.kind) + " (operation " +
                       std::to_string(exchange_.number) + "): the segment is damaged");
  }
  return place_in_arena(exchange_, member, 0, vault_bytes(exchange_.shape));
}

// Nobody works where there is nothing to add: joined ranks in step with a single contributor read
// its vault themselves.
void VaultedRun::find_workers() {
  const int count = exchange_.contributors.count();
  if (count == 1) return;
  exchange_.contributors.for_each([&](int member) {
    const ByteRange slice =
        slice_of(exchange_.shape.block_bytes, static_cast<int>(workers_.size()), count);
    workers_.push_back({member, vaults_[static_cast<std::size_t>(member)], slice.begin, slice.end});
  });
}

std::uint64_t VaultedRun::Worker::chunks() const noexcept {
  return (end - begin + shm::kChunkBytes - 1) / shm::kChunkBytes;
}

bool VaultedRun::advance() {
  if (!moved_) {
    moved_ = true;
    const bool divided = is_all_reduce() && exchange_.contributors.count() != 1;
    if (!divided && exchange_.receives()) read_sources();
    for (const Worker& worker : workers_) {
      if (worker.member == exchange_.self()) reduce_own_slice(worker);
    }
  }
  bool complete = true;
  for (Worker& worker : workers_) complete = collect(worker) && complete;
  if (!complete || consumed_) return complete;
  consumed_ = true;
  fault_point("vault.before_consumed");
  sync::publish_progress(exchange_.memory->own().progress.consumed,
                         sync::progress_value(exchange_.number, 1));
  exchange_.memory->ring();
  fault_point("vault.consumed");
  return true;
}

bool VaultedRun::awaits(int member) const {
  if (exchange_.lost->contains(member)) return false;
  return std::ranges::any_of(workers_, [&](const Worker& worker) {
    return worker.member == member && worker.collected < worker.chunks() && !is_reduced(worker);
  });
}

void VaultedRun::read_sources() {
  const std::size_t block =
      static_cast<std::size_t>(exchange_.shape.block_read_by(exchange_.self())) *
      exchange_.shape.block_bytes;
  deliver(exchange_, 0, exchange_.shape.block_bytes, [&](int member) -> const std::byte* {
    return vaults_[static_cast<std::size_t>(member)] + block;
  });
}

// Chunk by chunk, so that the others can begin to copy the first ones.
void VaultedRun::reduce_own_slice(const Worker& own) {
  std::byte* results = own.vault + vault_result_offset(exchange_.shape);
  for (std::uint64_t chunk = 0; chunk < own.chunks(); ++chunk) {
    reduce_chunk(own, chunk, results + chunk * shm::kChunkBytes);
    fault_point("vault.before_reduced");
    sync::publish_progress(exchange_.memory->own().progress.reduced,
                           sync::progress_value(exchange_.number, chunk + 1));
    exchange_.memory->ring();
    fault_point("vault.reduced");
  }
}

// Takes what the worker has done by now, and does what a dead one has left undone. True when this
// rank has the whole slice.
bool VaultedRun::collect(Worker& worker) {
  if (!exchange_.receives()) return true;
  const std::byte* results = worker.vault + vault_result_offset(exchange_.shape);
  for (; worker.collected < worker.chunks(); ++worker.collected) {
    const std::size_t offset = worker.collected * shm::kChunkBytes;
    const std::size_t bytes = std::min(shm::kChunkBytes, worker.end - worker.begin - offset);
    std::byte* destination = exchange_.destination + worker.begin + offset;
    if (is_reduced(worker)) {
      copy_out(exchange_, destination, results + offset, bytes);
    } else if (exchange_.lost->contains(worker.member)) {
      reduce_chunk(worker, worker.collected, destination);
    } else {
      return false;
    }
    fault_point("vault.collected");
  }
  return true;
}

// Whether the worker has reduced the chunk that this rank collects next.
bool VaultedRun::is_reduced(const Worker& worker) const noexcept {
  return sync::observe_progress(exchange_.memory->member(worker.member).progress.reduced,
                                sync::progress_value(exchange_.number, worker.collected + 1));
}

void VaultedRun::reduce_chunk(const Worker& worker, std::uint64_t chunk, std::byte* result) const {
  const std::size_t begin = worker.begin + chunk * shm::kChunkBytes;
  const void* sources[shm::kRankCountMax];
  std::size_t source_count = 0;
  for (const Worker& contributor : workers_) sources[source_count++] = contributor.vault + begin;
  reduce_into(exchange_, result, sources, source_count,
              std::min(shm::kChunkBytes, worker.end - begin));
}

}  // namespace tensorplay::collectives
