#include "tools/tpbench/private_memory.h"

#include <sys/mman.h>
#include <algorithm>
#include <new>
#include <utility>

namespace tensorplay::tpbench {

PrivateMemory::PrivateMemory(std::size_t bytes) {
  const std::size_t length = std::max<std::size_t>(bytes, 1);
  void* address = ::mmap(nullptr, length, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (address == MAP_FAILED) throw std::bad_alloc();
  bytes_ = {static_cast<std::byte*>(address), length};
}

PrivateMemory::PrivateMemory(PrivateMemory&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})) {}

PrivateMemory::~PrivateMemory() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

}  // namespace tensorplay::tpbench
