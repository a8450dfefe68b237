// Where a segment lies in this process's address space.
#pragma once

#include "lib/shm/memory_file.h"

#include <boost/interprocess/mapped_region.hpp>

#include <cstddef>

namespace tensorplay::shm {

// Owns a range of address space. Neither copied nor moved.
class Mapping {
 public:
  // The first `bytes` bytes of the file, which other processes share. Throws SegmentError.
  Mapping(const MemoryFile& file, std::size_t bytes);
  // Memory of this process's own, all zero. Throws SegmentError.
  explicit Mapping(std::size_t bytes);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  std::byte* at(std::size_t offset) const noexcept { return begin_ + offset; }

 private:
  boost::interprocess::mapped_region region_;  // empty for memory of our own
  std::byte* begin_;
  std::size_t own_bytes_ = 0;
};

}  // namespace tensorplay::shm
