// A large operation under way: what a rank does whenever it comes to it.
#pragma once

#include "lib/collectives/exchange.h"
#include "lib/collectives/staging_lease.h"

#include <cstddef>
#include <cstdint>
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

// The run for this exchange: from vaults where a peer's death is to be survived; else into the one
// result that all read, straight from arena to arena if everything lies there, and through the
// staging buffers otherwise. Throws SegmentError if a peer's arrival names a place outside its
// arena. Decides whether the operation streams, which may take the time of a measurement.
std::unique_ptr<LargeRun> make_large_run(Exchange exchange, StagingLease& lease);

// Copies the first round of `source` into the staging buffer before it's known who takes part, so
// that it goes out with the arrival: peers needn't wait for another word. False if that wouldn't
// pay, or if the buffer is still being read. Not while an earlier large operation is under way. The
// run is told by Exchange::staged_ahead, peers by kStagedAhead.
bool stage_ahead(const GroupMemory& memory, StagingLease& lease, std::uint64_t number,
                 const Shape& shape, const std::byte* source);

}  // namespace tensorplay::collectives
