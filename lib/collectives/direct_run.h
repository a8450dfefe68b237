// Large operations whose buffers lie in the arenas: nothing is copied in.
//
// Receivers read the sources where they are. An all_reduce is divided among the contributors: each
// reduces its slice from all sources and writes the result into everybody's memory. A rank's
// buffers are its own again when all that read or write them have told that they are through, or
// when its group has failed: a rank looks for that before each piece of kChunkBytes that it copies
// to another rank, and writes no further. One that is stopped in the midst of such a copy still
// ends that one when it is continued: at most kChunkBytes, of one rank's buffer.
#pragma once

#include "lib/collectives/large_run.h"

#include <vector>

namespace tensorplay::collectives {

class DirectRun : public LargeRun {
 public:
  // Whether the arrivals allow it: every source lies in its rank's arena, and for an all_reduce
  // every destination, too. The same answer on all ranks.
  static bool possible(const Exchange& exchange);

  // Throws SegmentError if an arrival names a place outside its rank's arena.
  explicit DirectRun(const Exchange& exchange);

  bool advance() override;
  bool awaits(int member) const override;

 private:
  bool moves_data() const noexcept;
  bool move_data();
  void read_sources();
  bool reduce_slice();
  bool copy_to_all(std::size_t begin, const std::byte* result, std::size_t bytes);

  Exchange exchange_;
  std::vector<std::byte*> sources_;       // by member; null where there is none
  std::vector<std::byte*> destinations_;  // likewise; for all_reduce only
  bool moved_ = false;                    // this rank's reading and writing is done
};

}  // namespace tensorplay::collectives
