// Who may still read a rank's staging buffers.
#pragma once

#include "lib/collectives/group_memory.h"
#include "lib/shm/layout.h"

#include <array>
#include <cstdint>
#include <vector>

namespace tensorplay::collectives {

// One rank's book about its own buffers: what each was last used for. Kept by the group from one
// large operation to the next. Used by one thread.
//
// A buffer is named by a slot, a number that grows; slots that are kStagingBuffers apart are the
// same buffer.
class StagingLease {
 public:
  // The buffer was filled for these readers, who are through with it once they tell `consumed`.
  void take(std::uint64_t slot, std::uint64_t consumed, const MemberSet& readers);
  // Whether all readers have told so. Looks at their words only for what it doesn't know yet: one
  // look fetches a line, and tells of all earlier operations.
  bool is_free(const GroupMemory& memory, std::uint64_t slot);
  // Whether `member` hasn't.
  bool is_held_by(const GroupMemory& memory, std::uint64_t slot, int member) const noexcept;

 private:
  struct Use {
    std::uint64_t consumed = 0;
    MemberSet readers;
  };

  const Use& use_of(std::uint64_t slot) const noexcept {
    return uses_[slot % shm::kStagingBuffers];
  }

  std::array<Use, shm::kStagingBuffers> uses_;
  std::vector<std::uint64_t> known_;  // what each member was last seen to have consumed
};

}  // namespace tensorplay::collectives
