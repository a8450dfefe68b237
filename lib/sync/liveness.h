// Whether a rank lives, seen without asking it.
//
// A living rank's thread holds the robust mutex in its Life. When that thread ends, by whatever
// means, the kernel marks the mutex's word before anything else is known of the end, and peers see
// that by a plain load: no heartbeat, no signal, no system call.
#pragma once

#include "lib/shm/layout.h"

#include <tensorplay/error.h>

#include <string>
#include <string_view>

namespace tensorplay::sync {

// How a rank is, as its peers see it.
enum class Vitality {
  absent,  // has not attached yet
  alive,
  left,      // gave up its last group in good order
  raised,    // gave up its last group while an exception was on its way
  vanished,  // its process has ended without a word
};

// Takes the place for the calling thread. False if somebody has it, or had it: a place is taken
// once. The thread must outlive its claim.
bool claim_life(shm::Life& life);

// Gives the place up. `state` is left or raised. False if another thread claimed it: then the
// memory must stay mapped as long as that thread lives, since the C library still has it in its
// list.
bool release_life(shm::Life& life, shm::LifeState state) noexcept;

// One or two loads for a rank that's alive; looks into /proc where the word tells of an end.
Vitality vitality(const shm::Life& life) noexcept;

// For messages: "pid 4711".
std::string process_label(const shm::Life& life);

// How a vanished rank ended, as far as its parent or the kernel tell.
struct EndOfLife {
  bool known = false;  // false: neither parent nor kernel tell (yet)
  PeerFailure::Cause cause = PeerFailure::Cause::exited;
  std::string text;  // "was ended by signal 9 (Killed)", "exited with code 3", ...
};
EndOfLife end_of(const shm::Life& life);

// What a living rank is doing: "running", "sleeping", "stopped", ... from /proc; "" if unknown.
std::string activity_of(const shm::Life& life);

// Called by a parent that watches the rank: tells its peers how it ended. First call counts.
void record_end(shm::Life& life, PeerFailure::Cause cause, std::string_view text) noexcept;

}  // namespace tensorplay::sync
