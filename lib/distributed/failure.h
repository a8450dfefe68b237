// Why a group can't be used any more: one record per group, the same error on all of its ranks.
#pragma once

#include "lib/shm/layout.h"

#include <tensorplay/error.h>

#include <functional>
#include <optional>
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

// Whether the group has failed. One load: for the hot path.
inline bool has_failed(const shm::FailureRecord& record) noexcept {
  // SYNC failure. Acquire: pairs with record_failure(). What the failing rank had seen, its peers'
  // arrivals among it, is visible to whoever sees that the group has failed.
  return record.state.load(std::memory_order_acquire) != shm::FailureState::none;
}

// Records the failure unless there is one already: the first counts, for all ranks. `writer`: the
// calling member.
void record_failure(shm::FailureRecord& record, int writer, const Failure& failure) noexcept;

// The recorded failure, of a record for which has_failed() is true. `end_of(writer)` is asked while
// a member is writing it: what counts instead if that one is dead, and so will never finish;
// nothing if it lives.
Failure read_failure(const shm::FailureRecord& record,
                     const std::function<std::optional<Failure>(int writer)>& end_of);

// Throws it: PeerFailure, CollectiveMismatch or Timeout.
[[noreturn]] void throw_failure(const Failure& failure);

}  // namespace tensorplay::distributed
