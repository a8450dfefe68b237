// How far ranks are in a large operation.
#pragma once

#include "lib/shm/layout.h"

#include <atomic>
#include <cstdint>

namespace tensorplay::sync {

// The most rounds that one operation can have.
inline constexpr std::uint64_t kRoundsMax = (std::uint64_t{1} << shm::kRoundBits) - 1;

// The greatest number that an operation can have.
inline constexpr std::uint64_t kNumberMax = ~std::uint64_t{0} >> shm::kRoundBits;

// The value of a progress word after `rounds` rounds of operation `number`.
constexpr std::uint64_t progress_value(std::uint64_t number, std::uint64_t rounds) noexcept {
  return number << shm::kRoundBits | rounds;
}

// Owner only. For `staged`, `reduced` and `consumed` alike.
inline void publish_progress(std::atomic<std::uint64_t>& word, std::uint64_t value) noexcept {
  // SYNC progress. Release: pairs with observe_progress(). For staged and reduced, the bytes of the
  // round are visible to whoever sees the value; for consumed, they have been read before it.
  word.store(value, std::memory_order_release);
}

// How far the owner has got.
inline std::uint64_t progress_of(const std::atomic<std::uint64_t>& word) noexcept {
  // SYNC progress. Acquire: pairs with publish_progress().
  return word.load(std::memory_order_acquire);
}

// Whether the owner has got as far as `value`.
inline bool observe_progress(const std::atomic<std::uint64_t>& word, std::uint64_t value) noexcept {
  return progress_of(word) >= value;
}

}  // namespace tensorplay::sync
