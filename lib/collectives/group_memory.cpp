#include "lib/collectives/group_memory.h"

#include "lib/sync/doorbell.h"

namespace tensorplay::collectives {

GroupMemory::GroupMemory(std::shared_ptr<shm::Segment> segment, int slot, int self,
                         std::vector<int> world_ranks)
    : segment_(std::move(segment)),
      slot_(slot),
      self_(self),
      world_ranks_(std::move(world_ranks)),
      header_(&segment_->group_header(slot)) {
  for (int m = 0; m < size(); ++m) {
    members_.push_back(&segment_->member_block(slot, m));
    staging_.push_back(segment_->staging(slot, m).data());
  }
}

void GroupMemory::ring() const noexcept {
  sync::ring_for(*segment_, world_rank(self_));
}

}  // namespace tensorplay::collectives
