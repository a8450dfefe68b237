// Whether a rank lives, seen without asking it.
//
// Two things of the kernel's tell it, the cheap one first:
//
//   the robust mutex in the rank's Life   held by the thread that runs the rank. When the thread
//                                         ends, by whatever means, the kernel marks the mutex's
//                                         word, and peers see that by a plain load: no heartbeat,
//                                         no signal, no system call while all live.
//   the lock of the rank's process        on the segment's file (Segment::lock_rank). Peers ask
//                                         about it only when the mutex is marked: it tells a
//                                         process that has ended, or replaced its program by
//                                         execve(), from one whose thread has ended, while the
//                                         process lives and may go on with the group elsewhere.
//
//       mark  lock | the rank
//       ------------+------------------------------------------------------------------------------
//       no    -    | lives
//       yes   yes  | lives: its thread has ended, its process hasn't. The next thread that uses the
//                  | group takes the mutex over (keep_life), and a plain load tells all again.
//       yes   no   | has vanished
//
// A process may take long to end once it has begun to: exit() runs the program's handlers, a crash
// writes its memory down. One that can still speak says so (declare_exit, last_words.h).
//
// Neither says anything wrong for a number that another process got meanwhile, for another PID
// namespace, or for forked children of a dead rank that still have its memory and descriptors: they
// have neither the mutex nor the lock. /proc and the parent are asked for one thing only: how the
// rank ended.
#pragma once

#include "lib/shm/segment.h"

#include <tensorplay/error.h>

#include <linux/futex.h>
#include <atomic>
#include <string>
#include <string_view>

namespace tensorplay::sync {

// How a rank is, as its peers see it.
enum class Vitality {
  absent,  // has not attached yet
  alive,
  left,      // gave up its last group in good order
  raised,    // gave up its last group while an exception was on its way
  exiting,   // its process is about to end, and has said so: it publishes nothing any more
  vanished,  // its process has ended without leaving
};

// Whether nobody needs to wait for the rank, which hasn't given up its groups in good order.
constexpr bool has_ended(Vitality vitality) noexcept {
  return vitality == Vitality::exiting || vitality == Vitality::vanished;
}

// Takes the rank's place for the calling process and thread. False if somebody has it, or had it: a
// place is taken once. A process that dies while it takes a place leaves it free.
bool claim_life(const shm::Segment& segment, int rank);

// Whether the kernel has marked the mutex, since its owner has ended.
inline bool owner_died(const shm::Life& life) noexcept {
  const auto* word = reinterpret_cast<const std::atomic<int>*>(&life.mutex.__data.__lock);
  static_assert(sizeof(std::atomic<int>) == sizeof(life.mutex.__data.__lock));
  // Acquire: the kernel marks the word by a fully ordered compare-exchange, after the thread's last
  // instruction. All that the thread had published is visible to whoever sees the mark.
  return (static_cast<unsigned>(word->load(std::memory_order_acquire)) & FUTEX_OWNER_DIED) != 0;
}

// Makes the calling thread the owner, where the one that was has died.
void take_life_over(shm::Life& life) noexcept;

// For the rank itself, at each use of its group: makes the calling thread the one whose end peers
// see at once, if the thread that was has ended. One load as long as it hasn't.
inline void keep_life(shm::Life& life) noexcept {
  if (owner_died(life)) [[unlikely]]
    take_life_over(life);
}

// Gives the place up. `state` is left or raised. False if another living thread is the one that
// claimed or kept it: then the memory must stay mapped as long as that thread lives, since the C
// library still has it in its list.
bool release_life(const shm::Segment& segment, int rank, shm::LifeState state) noexcept;

// For the rank itself, which is about to end: from now on its peers don't wait for it. It has
// recorded its end, and publishes nothing after this. It keeps its mutex and its lock: it vanishes
// only with its process.
void declare_exit(shm::Life& life) noexcept;

// Whether the rank has ever taken its place. Until it has, its own parts of the segment may have no
// memory yet: where there is none left, a look at them is a SIGBUS.
bool has_attached(const shm::Life& life) noexcept;

// One or two loads for a rank that's alive; a system call where the mutex is marked. Whatever the
// rank had published before it vanished, or said that it exits, is visible to whoever is told so.
Vitality vitality(const shm::Segment& segment, int rank) noexcept;

// Of a rank that has attached; 0 before.
int pid_of(const shm::Life& life) noexcept;
// For messages: "pid 4711".
std::string process_label(const shm::Life& life);

// How a vanished rank ended, as far as itself, its parent or the kernel tell.
struct EndOfLife {
  bool known = false;  // false: nobody tells (yet)
  PeerFailure::Cause cause = PeerFailure::Cause::exited;
  // "raised std::bad_alloc: ...", "was ended by signal 9 (Killed)", "exited with code 3", "replaced
  // its program by execve() (it runs 'sleep' now)", ...
  std::string text;
  int status = PeerFailure::kUnknownStatus;  // the exit code or the signal
};
EndOfLife end_of(const shm::Life& life);
// The same, with patience: a parent needs a moment to tell, the kernel to finish. 20 ms at most.
// Then it's recorded: what the first survivor found out all others tell, whenever they look.
EndOfLife await_end(shm::Life& life);

// What a living rank is doing: "running", "sleeping", "stopped", ... from /proc; "" if unknown.
std::string activity_of(const shm::Life& life);

// Called by a parent that watches the rank, by the rank itself, which knows more, or by a survivor
// where neither has told: tells its peers how it ended. The first call that comes to its end
// counts: who is stopped or dies in it has told nothing, and the next one speaks. The rank isn't
// taken for dead by this alone, once it has attached: see declare_exit().
void record_end(shm::Life& life, PeerFailure::Cause cause, std::string_view text,
                int status = PeerFailure::kUnknownStatus) noexcept;

}  // namespace tensorplay::sync
