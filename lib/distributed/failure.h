// Why a group can't be used any more: the same error on all of its ranks.
//
// Each member has a record of its own. Whoever finds out fills its record, and then names itself in
// the group's failure word, which is changed once: the first record that is complete counts, for
// all. A member that is stopped or dies on the way has told nothing, and holds nobody up.
#pragma once

#include "lib/collectives/group_memory.h"
#include "lib/shm/layout.h"

#include <tensorplay/error.h>

#include <string>

namespace tensorplay::distributed {

// What went wrong, before it's recorded.
struct Failure {
  shm::FailureKind kind = shm::FailureKind::timeout;
  int rank = -1;                                          // that failed, for peer_failure
  PeerFailure::Cause cause = PeerFailure::Cause::exited;  // likewise
  std::string text;
  int pid = 0;                               // of the rank that failed; 0 if it is unknown
  int status = PeerFailure::kUnknownStatus;  // its exit code or signal
};

// Records the failure in the calling member's name, unless there is one already.
void record_failure(const collectives::GroupMemory& memory, const Failure& failure) noexcept;

// The failure that counts, of a group for which sync::has_failed() is true. Never waits.
Failure read_failure(const collectives::GroupMemory& memory);

// Throws it: PeerFailure, CollectiveMismatch, SegmentError or Timeout.
[[noreturn]] void throw_failure(const Failure& failure);

}  // namespace tensorplay::distributed
