#include "lib/sync/liveness.h"

#include "lib/base/fault_point.h"
#include "lib/sync/end_word.h"
#include "lib/sync/process_status.h"

#include <tensorplay/error.h>

#include <linux/futex.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <thread>

namespace tensorplay::sync {
namespace {

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

bool claim_life(const shm::Segment& segment, int rank) {
  // From here on this process is the only writer. The lock also orders: whoever had it before, and
  // died, has written nothing later.
  if (!segment.lock_rank(rank)) return false;
  shm::Life& life = segment.rank_block(rank).life;
  // Relaxed: the lock decides who may look.
  if (life.state.load(std::memory_order_relaxed) != shm::LifeState::absent) {
    segment.unlock_rank(rank);
    return false;
  }
  life.pid = getpid();
  life.pid_namespace = pid_namespace();
  const auto status = life.pid_namespace == 0 ? std::nullopt : status_of_process(life.pid);
  life.start_time = status ? status->start_time : 0;
  lock_robust_mutex(life.mutex);
  // SYNC life. Release: pairs with vitality(); pid and mutex are set for whoever sees `attached`.
  life.state.store(shm::LifeState::attached, std::memory_order_release);
  return true;
}

void take_life_over(shm::Life& life) noexcept {
  if (pthread_mutex_lock(&life.mutex) == EOWNERDEAD) pthread_mutex_consistent(&life.mutex);
}

bool release_life(const shm::Segment& segment, int rank, shm::LifeState state) noexcept {
  shm::Life& life = segment.rank_block(rank).life;
  // SYNC life. Release: pairs with vitality(); stored before mutex and lock are given up, so that
  // an orderly end is never taken for a sudden one.
  life.state.store(state, std::memory_order_release);
  // A marked mutex is in nobody's list any more.
  const bool in_no_list = owner_died(life) || pthread_mutex_unlock(&life.mutex) == 0;
  segment.unlock_rank(rank);
  return in_no_list;
}

void declare_exit(shm::Life& life) noexcept {
  // SYNC life. Release: pairs with vitality(); what the rank has published, and how it ends, is
  // visible to whoever sees `exiting`.
  life.state.store(shm::LifeState::exiting, std::memory_order_release);
}

namespace {

// How a rank is that isn't in the job; nothing for one that is, or was when it vanished.
std::optional<Vitality> vitality_outside(const shm::Life& life) noexcept {
  // SYNC life. Acquire: pairs with claim_life() and release_life().
  switch (life.state.load(std::memory_order_acquire)) {
    case shm::LifeState::absent:
      // Relaxed: end_of() acquires before the text is read.
      return life.end.load(std::memory_order_relaxed) == 0 ? Vitality::absent : Vitality::vanished;
    case shm::LifeState::left:
      return Vitality::left;
    case shm::LifeState::raised:
      return Vitality::raised;
    case shm::LifeState::attached:
    case shm::LifeState::exiting:
      break;
  }
  return std::nullopt;
}

}  // namespace

bool has_attached(const shm::Life& life) noexcept {
  // SYNC life. Acquire: pairs with claim_life(); the rank reserved its memory before.
  return life.state.load(std::memory_order_acquire) != shm::LifeState::absent;
}

Vitality vitality(const shm::Segment& segment, int rank) noexcept {
  const shm::Life& life = segment.rank_block(rank).life;
  if (const auto outside = vitality_outside(life)) return *outside;
  if (!owner_died(life) || segment.is_rank_locked(rank)) {
    // SYNC life. Acquire: pairs with declare_exit(); all that the rank had published is visible.
    const bool exits = life.state.load(std::memory_order_acquire) == shm::LifeState::exiting;
    return exits ? Vitality::exiting : Vitality::alive;
  }
  // It may have given up its place between the two looks.
  return vitality_outside(life).value_or(Vitality::vanished);
}

int pid_of(const shm::Life& life) noexcept {
  return has_attached(life) ? life.pid : 0;
}

std::string process_label(const shm::Life& life) {
  const int pid = pid_of(life);
  return pid == 0 ? "not attached" : "pid " + std::to_string(pid);
}

namespace {

// What /proc tells of the rank's process, a zombie included; nothing once it's gone.
std::optional<ProcessStatus> status_of(const shm::Life& life) noexcept {
  if (!has_attached(life)) return std::nullopt;
  if (life.pid_namespace == 0 || life.pid_namespace != pid_namespace()) return std::nullopt;
  const auto status = status_of_process(life.pid);
  return status && status->start_time == life.start_time ? status : std::nullopt;
}

EndOfLife end_without_words(PeerFailure::Cause cause, int status) {
  return {true, cause, words_for(cause, status).data(), status};
}

// What Life::end says, which isn't 0.
EndOfLife told_end(const shm::Life& life, std::uint64_t end) {
  const std::uint64_t number = record_named_by(end);
  if (number >= shm::kEndRecords) return end_without_words(cause_in(end), status_in(end));
  const shm::EndRecord& record = life.end_records[number];
  return {true, bounded_cause(record.cause),
          std::string(record.text.data(), strnlen(record.text.data(), record.text.size())),
          record.status};
}

EndOfLife end_of_zombie(int exit_code) {
  if (WIFSIGNALED(exit_code)) {
    return end_without_words(PeerFailure::Cause::killed, WTERMSIG(exit_code));
  }
  return end_without_words(PeerFailure::Cause::exited, WEXITSTATUS(exit_code));
}

}  // namespace

EndOfLife end_of(const shm::Life& life) {
  // SYNC end. Acquire: pairs with record_end(); the record that it names is complete.
  const std::uint64_t end = life.end.load(std::memory_order_acquire);
  if (end != 0) return told_end(life, end);
  const auto status = status_of(life);
  if (status && status->state == 'Z') return end_of_zombie(status->exit_code);
  if (status && !status->exiting) {
    return {true, PeerFailure::Cause::exited,
            std::string("replaced its program by execve() (it runs '") + status->name.data() +
                "' now)"};
  }
  EndOfLife unknown = end_without_words(PeerFailure::Cause::exited, PeerFailure::kUnknownStatus);
  unknown.known = false;
  return unknown;
}

EndOfLife await_end(shm::Life& life) {
  EndOfLife end = end_of(life);
  for (int i = 0; i < 20 && !end.known; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    end = end_of(life);
  }
  record_end(life, end.cause, end.text, end.status);
  return end_of(life);
}

std::string activity_of(const shm::Life& life) {
  const auto status = status_of(life);
  if (!status) return "";
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

namespace {

// What is to stand in Life::end: a record, filled, unless the words follow from the rest anyway, or
// all records are taken.
std::uint64_t prepare_end(shm::Life& life, PeerFailure::Cause cause, std::string_view text,
                          int status) noexcept {
  if (text == words_for(cause, status).data()) return end_word(cause, status);
  // Relaxed: only says who fills which record.
  const auto number = life.end_records_taken.fetch_add(1, std::memory_order_relaxed);
  if (number >= shm::kEndRecords) return end_word(cause, status);
  shm::EndRecord& record = life.end_records[number];
  record.cause = static_cast<std::uint32_t>(cause);
  record.status = status;
  const std::size_t length = std::min(text.size(), record.text.size() - 1);
  std::memcpy(record.text.data(), text.data(), length);
  record.text[length] = '\0';
  return end_word(number);
}

}  // namespace

void record_end(shm::Life& life, PeerFailure::Cause cause, std::string_view text,
                int status) noexcept {
  std::uint64_t none = 0;
  // Relaxed: whether it's worth the trouble; the exchange below decides.
  if (life.end.load(std::memory_order_relaxed) != none) return;
  const std::uint64_t end = prepare_end(life, cause, text, status);
  fault_point("end.filled");
  // SYNC end. Release: pairs with end_of(); the record is visible with it. Relaxed if another has
  // told: end_of() acquires that.
  life.end.compare_exchange_strong(none, end, std::memory_order_release, std::memory_order_relaxed);
}

}  // namespace tensorplay::sync
