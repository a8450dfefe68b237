// A lock for what one thread uses nearly always, and never two at once.
//
// An atomic exchange costs 20 cycles and more, every time, though the thread that made the lock is
// as a rule the only one that ever enters. So the lock is biased towards it:
//
//   its maker       says that it is inside by a plain store, and looks whether the bias still holds
//   another thread  ends the bias, once and for all, makes every other thread of this process
//                   execute a full fence (membarrier(2)), and then looks whether the maker is
//                   inside
//
// That is Dekker's algorithm with the fence of one side moved to the other: whichever of maker and
// stranger comes second sees the first. From the end of the bias on everybody, the maker included,
// enters by an exchange. Nobody waits: a lock that is taken is told, as it is somebody's mistake.
//
// Where the kernel has no membarrier(2) the lock is without bias from the start. Where it refuses
// it later (a sandbox entered meanwhile), the lock stays with its maker: `bound`.
//
// Not for memory that processes share: membarrier(2) reaches the threads of one.
#pragma once

#include <atomic>

namespace tensorplay::sync {

// Its address tells the calling thread from all others that live: a register and an offset, where
// std::this_thread::get_id() is a call into the C library.
[[gnu::tls_model("initial-exec")]] inline thread_local char thread_mark = 0;

class BiasedLock {
 public:
  enum class Entry {
    entered,  // leave() follows, by the same thread
    nested,   // this thread was inside already; no leave() for this entry
    busy,     // another thread is inside, or was just about to be
    bound,    // this thread can't end the bias: membarrier(2) is refused
  };

  // Biased towards the calling thread.
  BiasedLock() noexcept;
  BiasedLock(const BiasedLock&) = delete;
  BiasedLock& operator=(const BiasedLock&) = delete;

  // What an earlier holder did before it left is visible to who has entered.
  Entry try_enter() noexcept;
  void leave() noexcept;

 private:
  enum class Bias { held, ending, ended };

  bool end_bias() noexcept;
  Entry try_enter_unbiased() noexcept;

  const char* maker_ = &thread_mark;
  std::atomic<bool> maker_inside_{false};  // written by the maker alone, under the bias
  std::atomic<Bias> bias_;
  std::atomic<bool> taken_{false};            // by whom it may concern, without the bias
  std::atomic<const char*> holder_{nullptr};  // who has taken it
};

inline BiasedLock::Entry BiasedLock::try_enter() noexcept {
  if (&thread_mark != maker_) return end_bias() ? try_enter_unbiased() : Entry::bound;
  // Relaxed: this thread's own store.
  if (maker_inside_.load(std::memory_order_relaxed)) return Entry::nested;
  // Relaxed: what a stranger finds of it is settled by its membarrier, see below.
  maker_inside_.store(true, std::memory_order_relaxed);
  // Keeps the compiler from moving the load up. The processor may: then the stranger's membarrier,
  // between its store to bias_ and its load of maker_inside_, falls before our store was made
  // visible, and our load after it sees the bias ending; or it falls after, and the stranger sees
  // us.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  // Acquire: pairs with end_bias().
  if (bias_.load(std::memory_order_acquire) == Bias::held) return Entry::entered;
  // Release: as in leave().
  maker_inside_.store(false, std::memory_order_release);
  return try_enter_unbiased();
}

inline void BiasedLock::leave() noexcept {
  // Relaxed: it is true only if this thread entered under the bias, or was false when it looked.
  if (&thread_mark == maker_ && maker_inside_.load(std::memory_order_relaxed)) {
    // Release: pairs with the acquire of the load in try_enter_unbiased().
    maker_inside_.store(false, std::memory_order_release);
    return;
  }
  // Relaxed: whoever enters next stores its own id.
  holder_.store(nullptr, std::memory_order_relaxed);
  // Release: pairs with the acquire of the exchange in try_enter_unbiased().
  taken_.store(false, std::memory_order_release);
}

}  // namespace tensorplay::sync
