#include "lib/sync/doorbell.h"

#include "lib/base/fault_point.h"
#include "lib/sync/fence.h"
#include "lib/sync/futex.h"

namespace tensorplay::sync {
namespace {

void ring(shm::Doorbell& doorbell) noexcept {
  // Relaxed: the sleeper looks at the published words again, by their own acquire loads; `rings`
  // only keeps it from sleeping, and the futex call orders that.
  doorbell.rings.fetch_add(1, std::memory_order_relaxed);
  futex_wake_all(doorbell.rings);
}

template <typename Wanted>
void ring_where(const shm::Segment& segment, Wanted&& wanted) noexcept {
  for (int rank = 0; rank < segment.world_size(); ++rank) {
    shm::Doorbell& doorbell = segment.rank_block(rank).doorbell;
    // Relaxed: the fence of the caller put this load behind the publishing store.
    const std::uint32_t sleeping_for = doorbell.sleeping_for.load(std::memory_order_relaxed);
    if (sleeping_for != 0 && wanted(sleeping_for)) ring(doorbell);
  }
}

std::atomic<std::uint32_t>& count_of(shm::SegmentHeader& header,
                                     std::uint32_t sleeping_for) noexcept {
  return sleeping_for == shm::kAllJoined ? header.joined_sleeper_count : header.sleeper_count;
}

}  // namespace

void ring_for(const shm::Segment& segment, int publisher) noexcept {
  full_fence();  // P2
  // Relaxed: ordered behind the publishing store by the fence above (P3).
  if (segment.header().sleeper_count.load(std::memory_order_relaxed) == 0) return;
  const auto self = static_cast<std::uint32_t>(publisher) + 1;
  ring_where(segment, [self](std::uint32_t sleeping_for) {
    return sleeping_for == self || sleeping_for == shm::kAnyRank;
  });
}

void ring_all(const shm::Segment& segment) noexcept {
  full_fence();  // P2
  ring_where(segment, [](std::uint32_t) { return true; });
}

void clear_doorbell(const shm::Segment& segment, int dead) noexcept {
  // Relaxed: the dead rank's last store is long visible, and of the survivors who come here the
  // exchange lets one see the mark.
  const std::uint32_t sleeping_for =
      segment.rank_block(dead).doorbell.sleeping_for.exchange(0, std::memory_order_relaxed);
  if (sleeping_for == 0) return;
  // Relaxed: a count that is too high for a while costs a needless look at the doorbells.
  count_of(segment.header(), sleeping_for).fetch_sub(1, std::memory_order_relaxed);
}

std::uint32_t sleeps_for(const shm::Segment& segment, int world_rank) noexcept {
  // Relaxed: nothing is read through it.
  return segment.rank_block(world_rank).doorbell.sleeping_for.load(std::memory_order_relaxed);
}

Sleep::Sleep(const shm::Segment& segment, int world_rank, std::uint32_t sleeping_for) noexcept
    : header_(segment.header()),
      doorbell_(segment.rank_block(world_rank).doorbell),
      sleeping_for_(sleeping_for),
      // Relaxed: compared by the futex call only.
      rings_(doorbell_.rings.load(std::memory_order_relaxed)) {
  // Relaxed, both: the fence below puts them before the look at the words (S3). In this order, as
  // whoever is marked as asleep must have been counted: see clear_doorbell().
  count_of(header_, sleeping_for).fetch_add(1, std::memory_order_relaxed);
  doorbell_.sleeping_for.store(sleeping_for, std::memory_order_relaxed);
  full_fence();  // S2
  fault_point("doorbell.marked");
}

Sleep::~Sleep() {
  fault_point("doorbell.awake");
  // Relaxed, both: being taken for a sleeper a little longer costs a needless ring.
  doorbell_.sleeping_for.store(0, std::memory_order_relaxed);
  count_of(header_, sleeping_for_).fetch_sub(1, std::memory_order_relaxed);
}

bool Sleep::sleep(std::chrono::nanoseconds at_most) noexcept {
  futex_wait(doorbell_.rings, rings_, at_most);
  // Relaxed: a hint whether it's worth looking closely; the words themselves are acquired.
  return doorbell_.rings.load(std::memory_order_relaxed) != rings_;
}

}  // namespace tensorplay::sync
