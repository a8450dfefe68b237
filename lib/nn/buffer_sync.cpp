#include "lib/nn/buffer_sync.h"

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
  const int root = group_.barrier().highest();
  if (root < 0) return;
  if (root == group_.rank()) pack();
  const bool made = !group_.broadcast(memory_.floats(), root).empty();
  if (made && root != group_.rank()) unpack();
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
