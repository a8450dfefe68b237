// That a group has failed, and whose record says why: one word that all of its members look at.
#pragma once

#include "lib/shm/layout.h"

#include <atomic>
#include <cstdint>

namespace tensorplay::sync {

// Whether the group has failed. One load of a line that is written once: for the hot path.
inline bool has_failed(const shm::GroupHeader& group) noexcept {
  // SYNC failure. Acquire: pairs with publish_failure(). What the member that told had seen, its
  // peers' arrivals among it, is visible to whoever sees that the group has failed.
  return group.failure.load(std::memory_order_acquire) != 0;
}

// The member whose record counts, of a group that has failed. As it stands in shared memory:
// compare it with the number of members.
inline std::uint32_t failed_by(const shm::GroupHeader& group) noexcept {
  // SYNC failure. Acquire: pairs with publish_failure(); that member's record is complete.
  return group.failure.load(std::memory_order_acquire) - 1;
}

// The group has failed, as the member's own record says, which is complete; unless it had failed
// before: the first counts.
inline void publish_failure(shm::GroupHeader& group, int member) noexcept {
  std::uint32_t none = 0;
  // SYNC failure. Release: pairs with has_failed() and failed_by(); the record is visible with it.
  // Relaxed if it had failed: what another member has told is read by failed_by().
  group.failure.compare_exchange_strong(none, 1 + static_cast<std::uint32_t>(member),
                                        std::memory_order_release, std::memory_order_relaxed);
}

}  // namespace tensorplay::sync
