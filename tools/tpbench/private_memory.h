// Memory of one process, as large programs get it.
#pragma once

#include <cstddef>
#include <span>

namespace tensorplay::tpbench {

// Whole pages from the system, touched; given back at the end. Throws std::bad_alloc.
class PrivateMemory {
 public:
  explicit PrivateMemory(std::size_t bytes);
  PrivateMemory(PrivateMemory&& other) noexcept;
  PrivateMemory& operator=(PrivateMemory&&) = delete;
  ~PrivateMemory();

  std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

}  // namespace tensorplay::tpbench
