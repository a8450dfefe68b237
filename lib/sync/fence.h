// The fence between 'I have published' and 'does anybody sleep?'.
#pragma once

#include <atomic>

namespace tensorplay::sync {

// Orders every earlier access of this thread before every later one, stores before loads included.
// ThreadSanitizer doesn't model fences; a read-modify-write is the same instruction on x86 and as
// strong elsewhere, and it does model that.
inline void full_fence() noexcept {
#if defined(__SANITIZE_THREAD__)
#define TENSORPLAY_FENCE_BY_EXCHANGE 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TENSORPLAY_FENCE_BY_EXCHANGE 1
#endif
#endif
#ifdef TENSORPLAY_FENCE_BY_EXCHANGE
  static thread_local std::atomic<int> word{0};
  // Sequentially consistent, to stand for the fence below.
  static_cast<void>(word.exchange(1, std::memory_order_seq_cst));
#else
  // Sequentially consistent: the only order that keeps a later load behind an earlier store.
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace tensorplay::sync
