// The groups that a copy of a segment holds.
#pragma once

#include "lib/collectives/group_memory.h"
#include "lib/shm/segment.h"

#include <memory>
#include <vector>

namespace tensorplay::inspect {

// That of all ranks first. Slots whose words can't be right are left out.
std::vector<collectives::GroupMemory> groups_of(const std::shared_ptr<shm::Segment>& copy);

// The member that is rank `rank` of the job; -1 if none is.
int member_of(const collectives::GroupMemory& group, int rank) noexcept;

// Where this group's members are in Join contexts: the number of the latest that one has entered; 0
// if none has, or all are out of it again.
std::uint64_t current_context(const collectives::GroupMemory& group) noexcept;

}  // namespace tensorplay::inspect
