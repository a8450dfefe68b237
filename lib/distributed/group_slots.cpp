#include "lib/distributed/group_slots.h"

#include "lib/base/fault_point.h"
#include "lib/sync/liveness.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace tensorplay::distributed {
namespace {

std::atomic<std::uint32_t>& state_of(const shm::Segment& segment, int slot) noexcept {
  return segment.header().group_slots[static_cast<std::size_t>(slot)];
}

constexpr std::uint32_t taken_by(int leader, int parent) noexcept {
  return static_cast<std::uint32_t>(parent) << 16 | (1 + static_cast<std::uint32_t>(leader));
}

// The lowest free slot, taken; -1 if there is none.
int take_slot(const shm::Segment& segment, int leader, int parent) noexcept {
  for (int slot = kWorldSlot + 1; slot < shm::kGroupCountMax; ++slot) {
    std::uint32_t nobody = 0;
    // Acquire: pairs with the release in free_slot(); the memory's clearing is behind us. Relaxed
    // if it isn't free: then there is nothing to read.
    if (state_of(segment, slot)
            .compare_exchange_strong(nobody, taken_by(leader, parent), std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
      return slot;
    }
  }
  return -1;
}

void free_slot(const shm::Segment& segment, int slot) noexcept {
  fault_point("group_slot.before_free");
  segment.release(segment.group_memory(slot));
  // Release: pairs with the acquire in take_slot(); who takes the slot next finds zeroed memory.
  state_of(segment, slot).store(0, std::memory_order_release);
  fault_point("group_slot.freed");
}

// The member isn't counted as a user any more. Counts once, whoever says it.
void discount(shm::Segment& segment, int slot, int member) noexcept {
  shm::GroupHeader& header = segment.group_header(slot);
  std::atomic<std::uint64_t>& word = header.uncounted[static_cast<std::size_t>(member) / 64];
  const std::uint64_t bit = std::uint64_t{1} << (member % 64);
  // Relaxed: only says who may take the member off the count.
  if ((word.fetch_or(bit, std::memory_order_relaxed) & bit) != 0) return;
  // Acquire and release: the last one out has everybody's last accesses behind it.
  if (header.user_count.fetch_sub(1, std::memory_order_acq_rel) == 1) free_slot(segment, slot);
}

void reserve_control_block(shm::Segment& segment, int slot, int member) {
  auto* block = reinterpret_cast<std::byte*>(&segment.member_block(slot, member));
  segment.reserve({block, sizeof(shm::MemberBlock)},
                  "rank " + std::to_string(member) + "'s control blocks");
}

}  // namespace

int take_group_slot(shm::Segment& segment, int parent, const std::vector<int>& world_ranks) {
  const int slot = take_slot(segment, world_ranks.front(), parent);
  if (slot < 0) return slot;
  fault_point("group_slot.taken");
  try {
    reserve_group(segment, slot);
    // Of all: should one of them die before it has come that far, the others look at its words.
    for (std::size_t m = 0; m < world_ranks.size(); ++m) {
      reserve_control_block(segment, slot, static_cast<int>(m));
    }
  } catch (...) {
    free_slot(segment, slot);
    throw;
  }
  shm::GroupHeader& header = segment.group_header(slot);
  header.member_count = static_cast<std::uint32_t>(world_ranks.size());
  for (std::size_t m = 0; m < world_ranks.size(); ++m) {
    header.world_ranks[m] = static_cast<std::uint16_t>(world_ranks[m]);
  }
  // Relaxed: the members learn the slot's number by a collective, which orders this before.
  header.user_count.store(header.member_count, std::memory_order_relaxed);
  return slot;
}

bool is_slot_of(const shm::Segment& segment, int slot, const std::vector<int>& world_ranks) {
  if (slot <= kWorldSlot || slot >= shm::kGroupCountMax) return false;
  // Relaxed: the exchange that told the slot orders the leader's writes before this.
  if (state_of(segment, slot).load(std::memory_order_relaxed) == 0) return false;
  const shm::GroupHeader& header = segment.group_header(slot);
  return header.member_count == world_ranks.size() &&
         std::equal(world_ranks.begin(), world_ranks.end(), header.world_ranks.begin());
}

void use_group_slot(const shm::Segment& segment, int slot) noexcept {
  // Relaxed: who looks for what a leader of the same parent never told has seen it arrive at a
  // later operation there, by an acquire.
  state_of(segment, slot).store(shm::kSlotInUse, std::memory_order_relaxed);
}

void reclaim_untold_slot(const shm::Segment& segment, int parent, int leader) noexcept {
  for (int slot = kWorldSlot + 1; slot < shm::kGroupCountMax; ++slot) {
    std::uint32_t taken = taken_by(leader, parent);
    // Relaxed: nobody reads the memory any more; says which of several survivors gives it back.
    if (state_of(segment, slot)
            .compare_exchange_strong(taken, shm::kSlotEmptied, std::memory_order_relaxed)) {
      free_slot(segment, slot);
    }
  }
}

void reserve_group(shm::Segment& segment, int slot) {
  auto* header = reinterpret_cast<std::byte*>(&segment.group_header(slot));
  segment.reserve({header, sizeof(shm::GroupHeader)}, "a group of ranks");
}

void reserve_member(shm::Segment& segment, int slot, int member) {
  reserve_control_block(segment, slot, member);
  segment.reserve(segment.staging(slot, member),
                  "rank " + std::to_string(member) + "'s staging buffers");
}

void leave_group_slot(shm::Segment& segment, int slot, int self) noexcept {
  if (slot == kWorldSlot) return;
  const shm::GroupHeader& header = segment.group_header(slot);
  const int members = std::min(static_cast<int>(header.member_count), segment.world_size());
  for (int m = 0; m < members; ++m) {
    const int rank = header.world_ranks[static_cast<std::size_t>(m)];
    if (m == self || rank >= segment.world_size()) continue;
    // Whose process only exits may still take itself off.
    if (sync::vitality(segment, rank) == sync::Vitality::vanished) discount(segment, slot, m);
  }
  discount(segment, slot, self);
}

}  // namespace tensorplay::distributed
