// Memory for a collective of a test, with guards around it.
#pragma once

#include <tensorplay/distributed/process_group.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace tensorplay::conformance {

// `count` elements that start `shift` elements behind a multiple of 64 bytes, between guards.
// Everything is filled with one byte at first.
template <Element T>
class Buffer {
 public:
  Buffer(const distributed::ProcessGroup& group, std::size_t count, std::size_t shift, bool shared)
      : group_(group), shared_(shared) {
    const std::size_t whole = 3 * kGuard + count + shift;
    if (shared) {
      memory_ = group_.allocate<T>(whole);
    } else {
      own_.resize(whole);
      memory_ = own_;
    }
    std::memset(static_cast<void*>(memory_.data()), kFill, memory_.size_bytes());
    const auto address = reinterpret_cast<std::size_t>(memory_.data());
    const std::size_t to_line = (64 - address % 64) % 64 / sizeof(T);
    first_ = to_line + kGuard + shift;
    values_ = memory_.subspan(first_, count);
  }
  ~Buffer() {
    if (shared_) group_.deallocate(memory_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::span<T> values() const { return values_; }

  // Whether nothing but values() has been written to.
  bool surroundings_intact() const {
    const auto bytes = std::as_bytes(std::span<const T>(memory_));
    const std::size_t begin = first_ * sizeof(T);
    return untouched(bytes.first(begin)) && untouched(bytes.subspan(begin + values_.size_bytes()));
  }

  static bool untouched(std::span<const std::byte> bytes) {
    return std::all_of(bytes.begin(), bytes.end(),
                       [](std::byte byte) { return byte == std::byte{kFill}; });
  }

 private:
  static constexpr std::size_t kGuard = 64 / sizeof(T);
  static constexpr unsigned char kFill = 0x5a;

  distributed::ProcessGroup group_;
  bool shared_;
  std::vector<T> own_;
  std::span<T> memory_;
  std::size_t first_ = 0;
  std::span<T> values_;
};

}  // namespace tensorplay::conformance
