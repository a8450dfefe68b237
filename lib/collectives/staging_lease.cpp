#include "lib/collectives/staging_lease.h"

#include "lib/sync/progress.h"

namespace tensorplay::collectives {

void StagingLease::take(std::uint64_t slot, std::uint64_t consumed, const MemberSet& readers) {
  uses_[slot % shm::kStagingBuffers] = {consumed, readers};
}

bool StagingLease::is_free(const GroupMemory& memory, std::uint64_t slot) {
  known_.resize(static_cast<std::size_t>(memory.size()));
  const Use& use = use_of(slot);
  return use.readers.all_of([&](int member) {
    std::uint64_t& known = known_[static_cast<std::size_t>(member)];
    if (known < use.consumed) known = sync::progress_of(memory.member(member).progress.consumed);
    return known >= use.consumed;
  });
}

bool StagingLease::is_held_by(const GroupMemory& memory, std::uint64_t slot,
                              int member) const noexcept {
  const Use& use = use_of(slot);
  return use.readers.contains(member) &&
         !sync::observe_progress(memory.member(member).progress.consumed, use.consumed);
}

}  // namespace tensorplay::collectives
