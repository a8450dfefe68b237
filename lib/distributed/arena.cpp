#include "lib/distributed/arena.h"

#include <tensorplay/error.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>

namespace tensorplay::distributed {

Arena::Arena(std::shared_ptr<shm::Segment> segment, int world_rank)
    : segment_(std::move(segment)), range_(segment_->arena(world_rank)) {
  if (!range_.empty()) free_.emplace(0, range_.size());
}

std::byte* Arena::allocate(std::size_t bytes, std::string_view purpose) {
  try {
    return take(bytes, purpose);
  } catch (const SegmentError&) {
    if (!reclaim_ || !reclaim_()) throw;
  }
  return take(bytes, purpose);
}

std::byte* Arena::take(std::size_t bytes, std::string_view purpose) {
  if (bytes == 0) return nullptr;
  // More than the arena stays as it is: rounding up could begin anew at 0.
  const std::size_t whole = bytes > range_.size()
                                ? bytes
                                : (bytes + shm::kPageBytes - 1) / shm::kPageBytes * shm::kPageBytes;
  const std::size_t begin = take_free(whole, purpose);
  used_.emplace(begin, whole);
  bytes_used_ += whole;
  try {
    segment_->reserve(range_.subspan(begin, whole), purpose);
  } catch (...) {
    deallocate(range_.data() + begin);
    throw;
  }
  return range_.data() + begin;
}

std::size_t Arena::take_free(std::size_t bytes, std::string_view purpose) {
  std::size_t most = 0;
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const auto [begin, size] = *it;
    most = std::max(most, size);
    if (size < bytes) continue;
    free_.erase(it);
    if (size > bytes) free_.emplace(begin + bytes, size - bytes);
    return begin;
  }
  throw SegmentError(std::string(purpose) + ": " + std::to_string(bytes) + " bytes wanted, " +
                     std::to_string(most) + " free in one piece of this rank's arena of " +
                     std::to_string(range_.size()) +
                     "; raise arena_bytes, or deallocate() what is no longer needed");
}

void Arena::deallocate(const void* memory) {
  if (memory == nullptr) return;
  const auto* byte = static_cast<const std::byte*>(memory);
  const auto used = used_.find(static_cast<std::size_t>(byte - range_.data()));
  if (used == used_.end()) {
    throw InvalidArgument("deallocate(): this memory was not given by allocate() of this process");
  }
  auto [begin, size] = *used;
  used_.erase(used);
  bytes_used_ -= size;
  segment_->release(range_.subspan(begin, size));
  auto next = free_.lower_bound(begin);
  if (next != free_.end() && next->first == begin + size) {
    size += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == begin) {
      before->second += size;
      return;
    }
  }
  free_.emplace(begin, size);
}

std::span<const std::byte> Arena::block_at(const void* memory) const noexcept {
  const auto* byte = static_cast<const std::byte*>(memory);
  if (memory == nullptr) return {};
  const auto used = used_.find(static_cast<std::size_t>(byte - range_.data()));
  return used == used_.end() ? std::span<const std::byte>{} : std::span(byte, used->second);
}

bool Arena::contains(const void* memory, std::size_t bytes) const noexcept {
  const auto* byte = static_cast<const std::byte*>(memory);
  if (std::less<>{}(byte, range_.data()) || !std::less<>{}(byte, range_.data() + range_.size())) {
    return false;
  }
  const auto offset = static_cast<std::size_t>(byte - range_.data());
  auto used = used_.upper_bound(offset);
  if (used == used_.begin()) return false;
  --used;
  return offset + bytes <= used->first + used->second;
}

}  // namespace tensorplay::distributed
