#include "lib/nn/buffer_sync.h"

#include "lib/base/fault_point.h"

#include <tensorplay/error.h>

#include <algorithm>
#include <span>
#include <utility>

namespace tensorplay::nn {

namespace {

using distributed::ProcessGroup;
using parallel::Buffer;

std::size_t elements_of(const std::vector<Buffer>& buffers) {
  std::size_t count = 0;
  for (const Buffer& buffer : buffers) count += buffer.value.size();
  return count;
}

}  // namespace

BufferSync::BufferSync(std::vector<Buffer> buffers, ProcessGroup& group)
    : buffers_(std::move(buffers)), group_(group), memory_(group_, elements_of(buffers_)) {}

void BufferSync::run() {
  if (memory_.floats().empty()) return;
  ProcessGroup copying = group_.as_part_of(distributed::CallPurpose::buffer_copy);
  while (!run_from(copying.barrier().highest(), copying)) {
  }
}

// False if the root has died before all had its buffers: then another one's are taken.
bool BufferSync::run_from(int root, ProcessGroup& copying) {
  if (root < 0) return true;
  fault_point("buffers.root_chosen");
  if (root == group_.rank()) pack();
  try {
    const bool made = !copying.broadcast(memory_.floats(), root).empty();
    fault_point("buffers.sent");
    if (made && root != group_.rank()) unpack();
    return true;
  } catch (const PeerFailure& failure) {
    // A group that has failed for good says so at the next barrier.
    if (failure.rank() != root) throw;
    return false;
  }
}

void BufferSync::pack() {
  auto place = memory_.floats().begin();
  for (const Buffer& buffer : buffers_) {
    place = std::copy(buffer.value.begin(), buffer.value.end(), place);
  }
}

void BufferSync::unpack() {
  auto place = memory_.floats().begin();
  for (const Buffer& buffer : buffers_) {
    std::copy_n(place, buffer.value.size(), buffer.value.begin());
    place += static_cast<std::ptrdiff_t>(buffer.value.size());
  }
}

}  // namespace tensorplay::nn
