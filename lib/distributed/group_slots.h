// The segment's group slots: who has which.
#pragma once

#include "lib/shm/segment.h"

#include <vector>

namespace tensorplay::distributed {

// The slot of the group of all ranks. It lives as long as the job.
inline constexpr int kWorldSlot = 0;

// Takes a free slot for a group of these job ranks, a part of the group in slot `parent`, and
// prepares its memory. Called by the first of them, the leader, for all; -1 if all slots are in
// use. Throws SegmentError.
int take_group_slot(shm::Segment& segment, int parent, const std::vector<int>& world_ranks);
// The leader has told the slot to the others. Called by the leader, before it calls anything else
// on the parent.
void use_group_slot(const shm::Segment& segment, int slot) noexcept;
// Frees the slot that a leader, by its rank in the job, has taken and won't tell to anybody any
// more, if there is one. By any of those whom it would have told, or by several.
void reclaim_untold_slot(const shm::Segment& segment, int parent, int leader) noexcept;

// Whether the slot is one that was taken for a group of these job ranks.
bool is_slot_of(const shm::Segment& segment, int slot, const std::vector<int>& world_ranks);

// Takes memory: for what all members share, and for a member's blocks, by each for its own. Throws
// SegmentError.
void reserve_group(shm::Segment& segment, int slot);
void reserve_member(shm::Segment& segment, int slot, int member);

// Member `self` gives up its group, and members that have died are given up with it; the last one
// frees the slot and its memory. The slot is lost for the job if a member dies after all others
// have left, or while it frees it; and if the group that is divided fails before all have learned
// it.
void leave_group_slot(shm::Segment& segment, int slot, int self) noexcept;

}  // namespace tensorplay::distributed
