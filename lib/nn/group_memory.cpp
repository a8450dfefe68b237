#include "lib/nn/group_memory.h"

#include <tensorplay/error.h>

#include <exception>

namespace tensorplay::nn {

GroupMemory::GroupMemory(const distributed::ProcessGroup& group, std::size_t count)
    : group_(group) {
  if (count == 0) return;
  if (group_.on_peer_failure() == distributed::PeerFailurePolicy::continue_without) {
    floats_ = {new float[count](), count};
    return;
  }
  try {
    floats_ = group_.allocate<float>(count);
    shared_ = true;
  } catch (const SegmentError&) {
    floats_ = {new float[count](), count};
  }
}

GroupMemory::~GroupMemory() {
  if (!shared_) {
    delete[] floats_.data();
    return;
  }
  try {
    group_.deallocate(floats_);
  } catch (const std::exception&) {
    // The group has broken down: its memory goes with it.
  }
}

void GroupMemory::abandon() noexcept {
  floats_ = {};
  shared_ = false;
}

}  // namespace tensorplay::nn
