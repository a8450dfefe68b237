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
  // the largest of them on every rank: the bytes of its source, for an all_reduce half as much
  // again. Where there is room for more than one, several are under way at once; else an
  // asynchronous call waits until the others have read the last copy. No rank takes more than half
  // of its share of what was free at the start for that, so that the others find room, too.
  // DistributedDataParallel reserves what it needs in its constructor, which throws SegmentError on
  // all ranks if it isn't there. Of operations that others call nobody knows beforehand: a rank
  // that finds no room even for the only one under way throws SegmentError from that call.
  continue_without = 1,
};

// "raise", "continue_without".
const char* name(PeerFailurePolicy policy) noexcept;

}  // namespace tensorplay::distributed
