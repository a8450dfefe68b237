#include "lib/sync/liveness.h"

#include "lib/sync/process_status.h"

#include <tensorplay/error.h>

#include <linux/futex.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace tensorplay::sync {
namespace {

// The word of the mutex that the kernel marks when its owner ends.
bool owner_died(const shm::Life& life) noexcept {
  const auto* word = reinterpret_cast<const std::atomic<int>*>(&life.mutex.__data.__lock);
  static_assert(sizeof(std::atomic<int>) == sizeof(life.mutex.__data.__lock));
  // Relaxed: the mark stays, and what follows from it is read from /proc or by acquire loads.
  return (static_cast<unsigned>(word->load(std::memory_order_relaxed)) & FUTEX_OWNER_DIED) != 0;
}

// The thread that claimed the place has ended; its process may live on.
bool process_lives(const shm::Life& life) noexcept {
  if (life.pid_namespace == 0 || life.pid_namespace != pid_namespace()) return false;
  const auto status = status_of_process(life.pid);
  return status && status->start_time == life.start_time && status->state != 'Z' &&
         status->state != 'X';
}

void lock_robust_mutex(pthread_mutex_t& mutex) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  const int made = pthread_mutex_init(&mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
  if (made != 0 || pthread_mutex_lock(&mutex) != 0) {
    throw SegmentError("can't make the mutex that tells peers whether this rank lives");
  }
}

}  // namespace

bool claim_life(shm::Life& life) {
  auto expected = shm::LifeState::absent;
  // Relaxed: decides who fills in the fields; they are published by the store below.
  if (!life.state.compare_exchange_strong(expected, shm::LifeState::claiming,
                                          std::memory_order_relaxed)) {
    return false;
  }
  life.pid = getpid();
  life.pid_namespace = pid_namespace();
  const auto status = status_of_process(life.pid);
  life.start_time = status ? status->start_time : 0;
  lock_robust_mutex(life.mutex);
  // SYNC life. Release: pairs with vitality(); pid and mutex are set for whoever sees `attached`.
  life.state.store(shm::LifeState::attached, std::memory_order_release);
  return true;
}

bool release_life(shm::Life& life, shm::LifeState state) noexcept {
  // SYNC life. Release: pairs with vitality(); stored before the mutex is given up, so that an
  // orderly end is never taken for a sudden one.
  life.state.store(state, std::memory_order_release);
  return pthread_mutex_unlock(&life.mutex) == 0;
}

Vitality vitality(const shm::Life& life) noexcept {
  // SYNC life. Acquire: pairs with claim_life() and release_life().
  switch (life.state.load(std::memory_order_acquire)) {
    case shm::LifeState::absent:
    case shm::LifeState::claiming:
      // Relaxed: end_of() acquires before the text is read.
      return life.end.load(std::memory_order_relaxed) == 0 ? Vitality::absent : Vitality::vanished;
    case shm::LifeState::left:
      return Vitality::left;
    case shm::LifeState::raised:
      return Vitality::raised;
    case shm::LifeState::attached:
      break;
  }
  return owner_died(life) && !process_lives(life) ? Vitality::vanished : Vitality::alive;
}

std::string process_label(const shm::Life& life) {
  return life.pid == 0 ? "not attached" : "pid " + std::to_string(life.pid);
}

EndOfLife end_of(const shm::Life& life) {
  // SYNC end. Acquire: pairs with record_end(); the text is complete.
  const std::uint32_t end = life.end.load(std::memory_order_acquire);
  if (end != 0) {
    const auto cause = std::min(end - 1, static_cast<std::uint32_t>(PeerFailure::Cause::killed));
    const char* text = life.end_text.data();
    return {true, static_cast<PeerFailure::Cause>(cause),
            std::string(text, strnlen(text, life.end_text.size()))};
  }
  const auto status =
      life.pid_namespace == pid_namespace() ? status_of_process(life.pid) : std::nullopt;
  if (status && status->start_time == life.start_time && status->state == 'Z') {
    if (WIFSIGNALED(status->exit_code)) {
      const int signal = WTERMSIG(status->exit_code);
      return {true, PeerFailure::Cause::killed,
              "was ended by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")"};
    }
    return {true, PeerFailure::Cause::exited,
            "exited with code " + std::to_string(WEXITSTATUS(status->exit_code))};
  }
  return {false, PeerFailure::Cause::exited, "has ended (it exited or was killed)"};
}

std::string activity_of(const shm::Life& life) {
  const auto status =
      life.pid_namespace == pid_namespace() ? status_of_process(life.pid) : std::nullopt;
  if (!status || status->start_time != life.start_time) return "";
  switch (status->state) {
    case 'R':
      return "running";
    case 'S':
      return "sleeping";
    case 'D':
      return "waiting for a device";
    case 'T':
      return "stopped by a signal";
    case 't':
      return "stopped by a debugger";
    default:
      return "";
  }
}

void record_end(shm::Life& life, PeerFailure::Cause cause, std::string_view text) noexcept {
  // Relaxed: only the parent writes this word.
  if (life.end.load(std::memory_order_relaxed) != 0) return;
  const std::size_t length = std::min(text.size(), life.end_text.size() - 1);
  std::memcpy(life.end_text.data(), text.data(), length);
  life.end_text[length] = '\0';
  // SYNC end. Release: pairs with end_of(); the text is visible with it.
  life.end.store(1 + static_cast<std::uint32_t>(cause), std::memory_order_release);
}

}  // namespace tensorplay::sync
