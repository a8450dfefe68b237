// A large operation under way: what a rank does whenever it comes to it.
#pragma once

#include "lib/collectives/exchange.h"

#include <memory>

namespace tensorplay::collectives {

// Runs one large operation, never blocking. One at a time per group, in the order of their numbers.
class LargeRun {
 public:
  virtual ~LargeRun() = default;

  // Does all that can be done now. True once this rank's part is over: its source is free, its
  // destination complete.
  virtual bool advance() = 0;

  // Whether advance() waits for something that `member` has still to do.
  virtual bool awaits(int member) const = 0;
};

// What a rank's staging buffers were last used for: they are free again when those who read them
// have got so far. Kept by the group from one large operation to the next.
struct StagingLease {
  std::uint64_t consumed = 0;  // the progress value that the readers must have reached
  MemberSet readers;
};

// The run for this exchange: from vaults where a peer's death is to be survived; else into the one
// result that all read, straight from arena to arena if everything lies there, and through the
// staging buffers otherwise. Throws SegmentError if a peer's arrival names a place outside its
// arena. Decides whether the operation streams, which may take the time of a measurement.
std::unique_ptr<LargeRun> make_large_run(Exchange exchange, StagingLease& lease);

}  // namespace tensorplay::collectives
