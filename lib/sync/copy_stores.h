// What has been settled about the stores of large copies: one word for each class of sizes.
#pragma once

#include "lib/shm/layout.h"

#include <atomic>

namespace tensorplay::sync {

// As it stands in shared memory: compare it with the values that it may have.
inline shm::CopyStores settled_stores(const std::atomic<shm::CopyStores>& word) noexcept {
  // Relaxed: the word is all that is told, nothing else is read because of it.
  return word.load(std::memory_order_relaxed);
}

// Settles it, unless somebody has done so before: the first counts. Gives what is settled.
inline shm::CopyStores settle_stores(std::atomic<shm::CopyStores>& word,
                                     shm::CopyStores found) noexcept {
  auto settled = shm::CopyStores::undecided;
  // Relaxed: as above. All changes of one word have one order, so the first is the same for all.
  const bool first = word.compare_exchange_strong(settled, found, std::memory_order_relaxed);
  return first ? found : settled;
}

}  // namespace tensorplay::sync
