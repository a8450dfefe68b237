// Random elements in which the rare cases aren't rare.
#pragma once

#include <tensorplay/element.h>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "tests/reduce/scalar_fold.h"

namespace tensorplay::reduce {

// $TEST_RANDOM_SEED, which Bazel sets for repeated runs, or a fixed number; printed, to repeat a
// run that failed.
inline std::uint64_t sample_seed() {
  const char* given = std::getenv("TEST_RANDOM_SEED");
  const std::uint64_t seed = given == nullptr ? 1 : std::strtoull(given, nullptr, 10);
  std::cout << "TEST_RANDOM_SEED=" << seed << '\n';
  return seed;
}

template <std::integral T>
T sample_value(std::mt19937_64& random) {
  const std::uint64_t word = random();
  switch (word % 16) {
    case 0:
      return std::numeric_limits<T>::min();
    case 1:
      return std::numeric_limits<T>::max();
    case 2:
      return 0;
    case 3:
      return static_cast<T>(-1);
    default:
      return static_cast<T>(word >> 5);
  }
}

// An unsigned integer as large as T.
template <typename T>
using WordOf = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;

// The positive value `distance` patterns away from infinity: below it lie the largest numbers,
// above it the NaNs.
template <typename T>
T near_infinity(int distance) {
  const auto infinity = static_cast<T>(std::numeric_limits<float>::infinity());
  return std::bit_cast<T>(static_cast<WordOf<T>>(std::bit_cast<WordOf<T>>(infinity) + distance));
}

template <typename T>
T negated(T value) {
  return static_cast<T>(-static_cast<Accumulator<T>>(value));
}

// Special values are few enough that most folds of nine are numbers still.
template <typename T>
  requires std::floating_point<Accumulator<T>> T sample_magnitude(std::uint64_t word) {
    // Exponents that differ by little: the sums must round.
    const double fraction = static_cast<double>(word >> 11) * 0x1p-53;
    switch (word % 256) {
      case 0:
        return near_infinity<T>(0);
      case 1:
        return near_infinity<T>(1 + static_cast<int>(word >> 58));
      case 2:
      case 3:
        return near_infinity<T>(-1);
      default:
        break;
    }
    if (word % 32 == 4) return T();
    if (word % 32 == 5) return std::bit_cast<T>(static_cast<WordOf<T>>(1 + (word >> 58)));
    return static_cast<T>(static_cast<Accumulator<T>>(fraction * 4));
  }

template <typename T>
  requires std::floating_point<Accumulator<T>> T sample_value(std::mt19937_64& random) {
    const std::uint64_t word = random();
    const auto magnitude = sample_magnitude<T>(word >> 1);
    return word % 2 == 0 ? magnitude : negated(magnitude);
  }

template <typename T>
std::vector<T> sample_values(std::size_t count, std::mt19937_64& random) {
  std::vector<T> values(count);
  for (T& value : values) value = sample_value<T>(random);
  return values;
}

}  // namespace tensorplay::reduce
