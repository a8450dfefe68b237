#include "lib/distributed/group_slots.h"

#include <bit>
#include <cstdint>

namespace tensorplay::distributed {
namespace {

constexpr std::uint64_t bit_of(int slot) {
  return std::uint64_t{1} << slot;
}

// The lowest free slot, taken; -1 if there is none.
int take_bit(std::atomic<std::uint64_t>& slots) {
  // Relaxed: only a guess for the exchange below.
  std::uint64_t taken = slots.load(std::memory_order_relaxed);
  while (~taken != 0) {
    const int slot = std::countr_one(taken);
    // Acquire: pairs with the release in free_slot(); the memory's clearing is behind us.
    if (slots.compare_exchange_weak(taken, taken | bit_of(slot), std::memory_order_acquire,
                                    std::memory_order_relaxed)) {
      return slot;
    }
  }
  return -1;
}

void free_slot(shm::Segment& segment, int slot) noexcept {
  segment.release(segment.group_memory(slot));
  // Release: pairs with the acquire in take_bit(); who takes the slot next finds zeroed memory.
  segment.header().group_slots.fetch_and(~bit_of(slot), std::memory_order_release);
}

}  // namespace

int take_group_slot(shm::Segment& segment, const std::vector<int>& world_ranks) {
  std::atomic<std::uint64_t>& slots = segment.header().group_slots;
  // Relaxed: the group of all ranks has its slot from the start; the bit only keeps others out.
  slots.fetch_or(bit_of(kWorldSlot), std::memory_order_relaxed);
  const int slot = take_bit(slots);
  if (slot < 0) return slot;
  shm::GroupHeader& header = segment.group_header(slot);
  try {
    segment.reserve({reinterpret_cast<std::byte*>(&header), sizeof(header)}, "a group");
  } catch (...) {
    free_slot(segment, slot);
    throw;
  }
  header.member_count = static_cast<std::uint32_t>(world_ranks.size());
  for (std::size_t m = 0; m < world_ranks.size(); ++m) {
    header.world_ranks[m] = static_cast<std::uint16_t>(world_ranks[m]);
  }
  // Relaxed: the members learn the slot's number by a collective, which orders this before.
  header.user_count.store(header.member_count, std::memory_order_relaxed);
  return slot;
}

void reserve_member(shm::Segment& segment, int slot, int member) {
  auto* block = reinterpret_cast<std::byte*>(&segment.member_block(slot, member));
  segment.reserve({block, sizeof(shm::MemberBlock)}, "this rank's control blocks");
  segment.reserve(segment.staging(slot, member), "this rank's staging buffers");
}

void leave_group_slot(shm::Segment& segment, int slot) noexcept {
  if (slot == kWorldSlot) return;
  // Acquire and release: the last one out has everybody's last accesses behind it.
  if (segment.group_header(slot).user_count.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    free_slot(segment, slot);
  }
}

}  // namespace tensorplay::distributed
