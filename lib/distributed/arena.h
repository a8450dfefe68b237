// A rank's own part of the segment, from which allocate() takes.
#pragma once

#include "lib/shm/segment.h"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace tensorplay::distributed {

// Hands out whole pages of one rank's arena, first fit. The bookkeeping is private to the process:
// other ranks only see offsets. Used by one thread.
class Arena {
 public:
  Arena(std::shared_ptr<shm::Segment> segment, int world_rank);

  // `reclaim` gives back what is kept without being used; whether there was anything. Asked when
  // there is no room otherwise.
  void set_reclaim(std::function<bool()> reclaim) { reclaim_ = std::move(reclaim); }

  // `bytes` of zeroed memory on a page of its own, taken now; null for 0 bytes. Throws
  // SegmentError, naming the purpose, if address space or memory is short.
  std::byte* allocate(std::size_t bytes, std::string_view purpose = "allocate()");
  // Gives back what allocate() gave; null is fine. Throws InvalidArgument for any other address.
  void deallocate(const void* memory);

  // The whole pages that allocate() gave there; empty for any other address.
  std::span<const std::byte> block_at(const void* memory) const noexcept;

  // Of all memory that allocate() gave.
  std::size_t bytes_used() const noexcept { return bytes_used_; }

  // Whether the whole range is memory that allocate() gave.
  bool contains(const void* memory, std::size_t bytes) const noexcept;

 private:
  std::byte* take(std::size_t bytes, std::string_view purpose);
  std::size_t take_free(std::size_t bytes, std::string_view purpose);

  std::shared_ptr<shm::Segment> segment_;
  std::span<std::byte> range_;
  std::map<std::size_t, std::size_t> free_;  // begin -> bytes, within the arena; never adjacent
  std::map<std::size_t, std::size_t> used_;  // likewise
  std::size_t bytes_used_ = 0;
  std::function<bool()> reclaim_;
};

}  // namespace tensorplay::distributed
