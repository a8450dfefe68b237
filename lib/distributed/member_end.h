// How a member that is gone from its group has ended.
#pragma once

#include "lib/collectives/group_memory.h"

#include <tensorplay/error.h>

#include <string>

namespace tensorplay::distributed {

struct MemberEnd {
  PeerFailure::Cause cause = PeerFailure::Cause::exited;
  std::string text;                          // "was ended by signal 9 (Killed)"
  const char* remedy = "";                   // a sentence without its end
  int status = PeerFailure::kUnknownStatus;  // the exit code or the signal
};

// As far as the member, its parent or the kernel have told.
MemberEnd known_end_of_member(const collectives::GroupMemory& memory, int member);
// The same; they get a moment to tell, 20 ms at most.
MemberEnd end_of_member(const collectives::GroupMemory& memory, int member);

}  // namespace tensorplay::distributed
