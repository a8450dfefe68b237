// What becomes of a group when one of its ranks dies.
#pragma once

#include <cstdint>

namespace tensorplay::distributed {

// Chosen once per job, the same on all ranks. A rank is gone when its process has ended for
// whatever reason, when it gave up the group, or when an exception left its Join context.
enum class PeerFailurePolicy : std::uint32_t {
  // Every rank that waits for the one that is gone throws PeerFailure, and the group can't be used
  // any more.
  raise = 0,
  // The others go on without it: it takes part in the operations that it had posted, completely,
  // and in no later one, like a rank that has joined. Every operation tells who contributed; a Join
  // context tells in its report who died where. Operations whose root is gone throw PeerFailure on
  // all survivors, and the group stays usable.
  //
  // Under throw_on_early_termination a death isn't taken for inputs that ran out. What makes the
  // group fail for good is the same as under `raise`: a time-out, a mismatch, damage.
  //
  // Costs: operations of more than 8 KiB copy their sources into the segment before they begin, so
  // that a contribution is there wholly or not at all. The arena, and /dev/shm, must have room for
  // them on every rank: twice the bytes of the operations in flight. A rank that finds none throws
  // SegmentError.
  continue_without = 1,
};

// "raise", "continue_without".
const char* name(PeerFailurePolicy policy) noexcept;

}  // namespace tensorplay::distributed
