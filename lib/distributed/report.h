// The sentences in which a group tells what went wrong.
#pragma once

#include "lib/collectives/group_memory.h"
#include "lib/distributed/failure.h"
#include "lib/distributed/operation.h"

#include <chrono>
#include <string>

namespace tensorplay::distributed {

// "all_reduce (sum, float32, 10 elements)".
std::string describe(const CollectiveCall& call);

// "rank 2", or "rank 2 (rank 5 of the job)" in a sub-group.
std::string rank_label(const collectives::GroupMemory& memory, int member);

// What the ranks that have arrived at operation `number` called, grouped by what they have in
// common.
std::string describe_mismatch(const collectives::GroupMemory& memory, std::uint64_t number);

// The last operation that the member has posted, 0 if none.
std::uint64_t last_posted(const shm::MemberBlock& member);

// How a member that is gone has ended: "was ended by signal 9 (Killed)". Its parent gets a moment
// to tell.
struct MemberEnd {
  PeerFailure::Cause cause = PeerFailure::Cause::exited;
  std::string text;
};
MemberEnd end_of_member(const collectives::GroupMemory& memory, int member);

// The root of an operation is gone; `others` take part.
Failure lost_root(const collectives::GroupMemory& memory, int root, const std::string& what,
                  const Contributors& others);

// A member that was awaited is gone; `what` is where: "all_reduce (...), operation 7".
Failure peer_failure(const collectives::GroupMemory& memory, int member, const std::string& what);

// Nothing happened for `waited`. Tells for each awaited member where it is.
Failure timeout_failure(const collectives::GroupMemory& memory, const Contributors& awaited,
                        const std::string& what, std::chrono::nanoseconds waited);

}  // namespace tensorplay::distributed
