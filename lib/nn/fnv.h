// The hash by Fowler, Noll and Vo, variant 1a, of 64 bits: for telling apart what differs by
// accident.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tensorplay::nn {

inline constexpr std::uint64_t kFnvBasis = 0xcbf29ce484222325U;

// The hash of what was hashed into `hash` followed by `bytes`.
inline std::uint64_t fnv1a(std::span<const std::byte> bytes,
                           std::uint64_t hash = kFnvBasis) noexcept {
  constexpr std::uint64_t kPrime = 0x100000001b3U;
  for (const std::byte byte : bytes) hash = (hash ^ static_cast<std::uint64_t>(byte)) * kPrime;
  return hash;
}

}  // namespace tensorplay::nn
