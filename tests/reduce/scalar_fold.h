// What a reduction must give, element by element and without vectors: the oracle of these tests.
#pragma once

#include <tensorplay/distributed/reduce_op.h>
#include <tensorplay/element.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace tensorplay::reduce {

template <typename T>
inline constexpr bool kIsHalf = std::same_as<T, float16> || std::same_as<T, bfloat16>;

// The type that T is folded in.
template <typename T>
using Accumulator = std::conditional_t<kIsHalf<T>, float, T>;

template <std::floating_point T>
T scalar_minimum(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  if (a == b) return std::signbit(a) ? a : b;
  return std::min(a, b);
}

template <std::floating_point T>
T scalar_step(distributed::ReduceOp op, T a, T b) {
  switch (op) {
    case distributed::ReduceOp::sum:
    case distributed::ReduceOp::avg:
      return a + b;
    case distributed::ReduceOp::product:
      return a * b;
    case distributed::ReduceOp::min:
      return scalar_minimum(a, b);
    default:
      return -scalar_minimum(-a, -b);
  }
}

template <std::integral T>
T scalar_step(distributed::ReduceOp op, T a, T b) {
  const auto left = static_cast<std::uint64_t>(a);
  const auto right = static_cast<std::uint64_t>(b);
  switch (op) {
    case distributed::ReduceOp::sum:
    case distributed::ReduceOp::avg:
      return static_cast<T>(left + right);
    case distributed::ReduceOp::product:
      return static_cast<T>(left * right);
    case distributed::ReduceOp::min:
      return std::min(a, b);
    case distributed::ReduceOp::max:
      return std::max(a, b);
    case distributed::ReduceOp::band:
      return static_cast<T>(left & right);
    case distributed::ReduceOp::bor:
      return static_cast<T>(left | right);
    default:
      return static_cast<T>(left ^ right);
  }
}

template <std::floating_point T>
T scalar_quotient(T sum, std::uint32_t divisor) {
  return sum / static_cast<T>(divisor);
}

// Of magnitudes, since that rounds towards zero whatever the sign.
template <std::integral T>
T scalar_quotient(T sum, std::uint32_t divisor) {
  const auto word = static_cast<std::uint64_t>(sum);
  if (sum >= 0) return static_cast<T>(word / divisor);
  return static_cast<T>(0 - (0 - word) / divisor);
}

// A NaN of any sign and payload becomes the one that results have.
template <typename T>
T scalar_result(Accumulator<T> folded) {
  if constexpr (std::integral<T>) {
    return folded;
  } else {
    if (std::isnan(folded)) folded = std::numeric_limits<Accumulator<T>>::quiet_NaN();
    return static_cast<T>(folded);
  }
}

template <typename T>
T scalar_fold(distributed::ReduceOp op, const std::vector<T>& values, std::uint32_t divisor) {
  auto folded = static_cast<Accumulator<T>>(values.front());
  for (std::size_t k = 1; k < values.size(); ++k) {
    folded = scalar_step(op, folded, static_cast<Accumulator<T>>(values[k]));
  }
  if (op == distributed::ReduceOp::avg) folded = scalar_quotient(folded, divisor);
  return scalar_result<T>(folded);
}

}  // namespace tensorplay::reduce
