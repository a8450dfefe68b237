// What a Join context has to tell when it has ended.
#pragma once

#include <tensorplay/distributed/contributors.h>
#include <tensorplay/error.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace tensorplay::distributed::algorithms {

// The account of one context. Equal on all ranks.
struct JoinReport {
  struct Rank {
    std::int64_t iterations = 0;  // that the rank announced by notify_join_context
    std::int64_t shadowed = 0;    // that others did after it had joined: the maximum minus its own
    // From joining until the last rank joined: what the rank spent waiting for the others.
    std::chrono::nanoseconds waiting{0};
  };

  // A rank that was gone when the context ended, without having joined: in a job whose ranks
  // survive that (PeerFailurePolicy::continue_without).
  struct Death {
    int rank = -1;
    int pid = 0;
    PeerFailure::Cause cause = PeerFailure::Cause::exited;
    std::string how;                   // "was ended by signal 9 (Killed)"
    std::int64_t iteration = -1;       // the last that it had announced; -1: none in this context
    std::uint64_t last_operation = 0;  // of the group, in which it took part; 0: none
  };

  bool enabled = false;       // false: the context was disabled, nothing else is filled in
  std::vector<Rank> ranks;    // one per rank of the group
  std::vector<Death> deaths;  // by rank; in `ranks` the dead have no shadowed iterations
  Contributors last_joiners;  // of the ranks that joined, those that missed no iteration
  // The greatest of them, whose state is the final one. Where deaths are survived it may be gone by
  // now: who joined and died afterwards is no death in this context.
  int authoritative_rank = -1;
};

// A table, one line per rank, for people.
std::string to_string(const JoinReport& report);

}  // namespace tensorplay::distributed::algorithms
