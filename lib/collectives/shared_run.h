// An all_reduce whose result lies once, in memory that all ranks read.
//
// The contributors' sources lie in their arenas. Each contributor reduces its slice from all of
// them straight into the result; nobody copies anything. Two exchanges of words are all that there
// is beside that: the arrivals, after which the result may be overwritten, since whoever has
// arrived doesn't read any more what was there; and `consumed`, by which a contributor tells that
// its slice is there and that it reads nobody's source any more.
//
// Bytes moved by an all_reduce of S bytes by W ranks, all ranks together: W S read, S written.
//
// As in a DirectRun, a rank looks before each piece of kChunkBytes whether the group has failed,
// and writes no further if it has.
#pragma once

#include "lib/collectives/large_run.h"

#include <vector>

namespace tensorplay::collectives {

class SharedRun final : public LargeRun {
 public:
  // The exchange's destination is this rank's address of the result. Throws SegmentError if an
  // arrival names a source outside its rank's arena.
  explicit SharedRun(const Exchange& exchange);

  bool advance() override;
  bool awaits(int member) const override;

 private:
  bool reduce_slice();

  Exchange exchange_;
  std::vector<const std::byte*> sources_;  // of the contributors, in the order of their ranks
  bool reduced_ = false;                   // this rank's slice
};

}  // namespace tensorplay::collectives
