#include "lib/sync/biased_lock.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tensorplay::sync {
namespace {

long membarrier(int command) noexcept {
  return syscall(SYS_membarrier, command, 0, 0);
}

// Whether the kernel knows the command; asked once.
bool has_expedited_membarrier() noexcept {
  static const bool has = [] {
    const long commands = membarrier(MEMBARRIER_CMD_QUERY);
    return commands > 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0;
  }();
  return has;
}

// Every thread of this process executes a full fence before this returns. Registers the process
// each time, which costs nothing but the first time, then as much as 30 ms: a process with one
// thread to use the lock never pays.
bool fence_all_threads() noexcept {
  return membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0 &&
         membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
}

}  // namespace

BiasedLock::BiasedLock() noexcept : bias_(has_expedited_membarrier() ? Bias::held : Bias::ended) {}

// Whether the bias has ended. More than one thread may be at it: each makes its own fence.
bool BiasedLock::end_bias() noexcept {
  // Acquire: pairs with the release below; the fence of whoever ended it is behind us.
  if (bias_.load(std::memory_order_acquire) == Bias::ended) return true;
  Bias held = Bias::held;
  // Relaxed: the fence below makes it visible to the maker before it lets us on.
  bias_.compare_exchange_strong(held, Bias::ending, std::memory_order_relaxed);
  if (!fence_all_threads()) return false;
  // Release: pairs with the acquire above and with the maker's in try_enter().
  bias_.store(Bias::ended, std::memory_order_release);
  return true;
}

BiasedLock::Entry BiasedLock::try_enter_unbiased() noexcept {
  const char* const self = &thread_mark;
  // Acquire: pairs with the release in leave().
  if (taken_.exchange(true, std::memory_order_acquire)) {
    // Relaxed: the id is this thread's only while this thread is inside, see leave().
    return holder_.load(std::memory_order_relaxed) == self ? Entry::nested : Entry::busy;
  }
  // Acquire: pairs with the maker's release in leave().
  if (maker_inside_.load(std::memory_order_acquire)) {
    // Release: pairs with the acquire of the next exchange.
    taken_.store(false, std::memory_order_release);
    return Entry::busy;
  }
  // Relaxed: only this thread is to recognise it.
  holder_.store(self, std::memory_order_relaxed);
  return Entry::entered;
}

}  // namespace tensorplay::sync
