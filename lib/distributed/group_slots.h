// The segment's group slots: who has which.
#pragma once

#include "lib/shm/segment.h"

#include <vector>

namespace tensorplay::distributed {

// The slot of the group of all ranks. It lives as long as the job.
inline constexpr int kWorldSlot = 0;

// Takes a free slot for a group of these job ranks and prepares its memory. Called by one rank, the
// leader, for all members; -1 if all slots are in use. Throws SegmentError.
int take_group_slot(shm::Segment& segment, const std::vector<int>& world_ranks);

// Whether the slot is one that was taken for a group of these job ranks.
bool is_slot_of(const shm::Segment& segment, int slot, const std::vector<int>& world_ranks);

// Takes memory: for what all members share, and for a member's blocks, by each for its own. Throws
// SegmentError.
void reserve_group(shm::Segment& segment, int slot);
void reserve_member(shm::Segment& segment, int slot, int member);

// Member `self` gives up its group, and members that have died are given up with it; the last one
// frees the slot and its memory. A member that dies after all others have left keeps the slot, and
// so does a leader that dies before it has told the slot.
void leave_group_slot(shm::Segment& segment, int slot, int self) noexcept;

}  // namespace tensorplay::distributed
