// What a fuzzer makes up, as the decisions of a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace tensorplay::fuzz {

using Bytes = std::span<const std::uint8_t>;

// Reads decisions from the front; zeros when there is nothing left. Never throws.
class InputBytes {
 public:
  explicit InputBytes(Bytes bytes) noexcept : bytes_(bytes) {}

  bool is_empty() const noexcept { return bytes_.empty(); }

  template <class T>
  T take() noexcept {
    static_assert(std::is_integral_v<T>);
    T value{};
    const std::size_t length = bytes_.size() < sizeof(T) ? bytes_.size() : sizeof(T);
    std::memcpy(&value, bytes_.data(), length);
    bytes_ = bytes_.subspan(length);
    return value;
  }
  // 0 ... limit - 1.
  std::size_t below(std::size_t limit) noexcept {
    return limit <= 256 ? take<std::uint8_t>() % limit : take<std::uint32_t>() % limit;
  }
  Bytes rest() noexcept {
    const Bytes rest = bytes_;
    bytes_ = {};
    return rest;
  }

 private:
  Bytes bytes_;
};

}  // namespace tensorplay::fuzz
