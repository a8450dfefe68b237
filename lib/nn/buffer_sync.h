// Keeps the state that belongs to a model but isn't trained equal on all ranks.
#pragma once

#include "lib/nn/group_memory.h"

#include <tensorplay/distributed/process_group.h>
#include <tensorplay/nn/parallel/distributed_data_parallel.h>

#include <vector>

namespace tensorplay::nn {

class BufferSync {
 public:
  // Makes its collectives through `group` itself, the Joinable's handle, which must outlive this.
  BufferSync(std::vector<parallel::Buffer> buffers, distributed::ProcessGroup& group);

  // Copies the buffers of the highest active rank to all: a barrier tells which one that is, then
  // one broadcast carries all buffers. Between the two no rank can join, since a rank joins by
  // leaving its loop, and all active ranks are in here: who came to the barrier comes to the
  // broadcast, unless it dies: then, where that is survived, another one's are taken.
  //
  // The same for a joined rank in step: it receives, and nothing happens if the active ranks don't
  // synchronise their buffers this time.
  void run();

 private:
  bool run_from(int root, distributed::ProcessGroup& copying);
  void pack();
  void unpack();

  std::vector<parallel::Buffer> buffers_;
  distributed::ProcessGroup& group_;
  GroupMemory memory_;
};

}  // namespace tensorplay::nn
