// The segment's group slots: who has which.
#pragma once

#include "lib/shm/segment.h"

#include <vector>

namespace tensorplay::distributed {

// The slot of the group of all ranks. It lives as long as the job.
inline constexpr int kWorldSlot = 0;

// Takes a free slot for a group of these job ranks and prepares its memory. Called by one rank, the
// leader, for all members; -1 if all slots are in use.
int take_group_slot(shm::Segment& segment, const std::vector<int>& world_ranks);

// Takes memory for a member's blocks: by each member, for its own. Throws SegmentError.
void reserve_member(shm::Segment& segment, int slot, int member);

// A member gives up its group; the last one frees the slot and its memory.
void leave_group_slot(shm::Segment& segment, int slot) noexcept;

}  // namespace tensorplay::distributed
