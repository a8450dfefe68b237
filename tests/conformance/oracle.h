// What a collective should give: the values that ranks pass, and a reduction written for clarity.
//
// Values are a function of (salt, rank, index), so that every rank knows what every other one
// passed. Floating-point ones span more binary orders of magnitude than their type, or the
// accumulator, has digits: a sum in another order than rank 0, 1, ... differs.
#pragma once

#include <tensorplay/distributed/reduce_op.h>
#include <tensorplay/element.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <type_traits>

namespace tensorplay::conformance {

using distributed::ReduceOp;

// A well-mixed function of x: neighbours have nothing in common.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

template <typename T>
inline constexpr bool kIsHalf = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
template <typename T>
inline constexpr bool kIsReal = kIsHalf<T> || std::is_floating_point_v<T>;

struct Pattern {
  std::uint64_t salt = 0;
  ReduceOp op = ReduceOp::sum;  // products get values near 1: they'd all be infinite
  bool special = false;         // some values are NaN or infinite
};

// The exponents that a type's values span, for sums.
template <Element T>
constexpr int exponent_span() {
  if constexpr (std::is_same_v<T, float16>) return 14;
  if constexpr (std::is_same_v<T, double>) return 60;
  return 30;
}

template <Element T>
T real_value(const Pattern& pattern, std::uint64_t random) {
  if (pattern.special && random % 11 == 0) {
    constexpr double kSpecial[] = {std::numeric_limits<double>::quiet_NaN(),
                                   std::numeric_limits<double>::infinity(),
                                   -std::numeric_limits<double>::infinity()};
    return static_cast<T>(static_cast<float>(kSpecial[random / 11 % 3]));
  }
  const int span = pattern.op == ReduceOp::product ? 1 : exponent_span<T>();
  const int exponent = static_cast<int>(random >> 56) % (2 * span + 1) - span;
  const double mantissa = 1.0 + static_cast<double>(random & 0xfffffffffff) / 0x1p44;
  const double value = std::ldexp((random >> 50) & 1 ? -mantissa : mantissa, exponent);
  if constexpr (kIsHalf<T>) {
    return T(static_cast<float>(value));
  } else {
    return static_cast<T>(value);
  }
}

// What `rank` passes at `index` of its source.
template <Element T>
T value_at(const Pattern& pattern, int rank, std::size_t index) {
  const std::uint64_t random =
      mix(pattern.salt ^ mix(static_cast<std::uint64_t>(rank) << 40 ^ index));
  if constexpr (kIsReal<T>) {
    return real_value<T>(pattern, random);
  } else {
    return static_cast<T>(random);
  }
}

template <typename T>
T combine_integers(ReduceOp op, T a, T b) {
  const auto x = static_cast<std::uint64_t>(a);
  const auto y = static_cast<std::uint64_t>(b);
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::avg:
      return static_cast<T>(x + y);
    case ReduceOp::product:
      return static_cast<T>(x * y);
    case ReduceOp::min:
      return b < a ? b : a;
    case ReduceOp::max:
      return a < b ? b : a;
    case ReduceOp::band:
      return static_cast<T>(x & y);
    case ReduceOp::bor:
      return static_cast<T>(x | y);
    case ReduceOp::bxor:
      return static_cast<T>(x ^ y);
  }
  throw std::logic_error("no such reduction");
}

template <typename T>
T combine_reals(ReduceOp op, T a, T b) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::avg:
      return a + b;
    case ReduceOp::product:
      return a * b;
    case ReduceOp::min:
      return std::isnan(a) || std::isnan(b) ? std::numeric_limits<T>::quiet_NaN() : b < a ? b : a;
    case ReduceOp::max:
      return std::isnan(a) || std::isnan(b) ? std::numeric_limits<T>::quiet_NaN() : a < b ? b : a;
    default:
      throw std::logic_error("no such reduction of reals");
  }
}

// The values folded from the left; avg divides once, at the end.
template <Element T>
T fold(ReduceOp op, std::span<const T> values) {
  using Accumulator = std::conditional_t<kIsHalf<T>, float, T>;
  Accumulator total = static_cast<Accumulator>(values[0]);
  for (const T& value : values.subspan(1)) {
    if constexpr (kIsReal<T>) {
      total = combine_reals(op, total, static_cast<Accumulator>(value));
    } else {
      total = combine_integers(op, total, value);
    }
  }
  if (op == ReduceOp::avg) {
    if constexpr (kIsReal<T>) {
      total = total / static_cast<Accumulator>(values.size());
    } else if constexpr (std::is_signed_v<T>) {
      total = static_cast<T>(std::int64_t{total} / static_cast<std::int64_t>(values.size()));
    } else {
      total = static_cast<T>(std::uint64_t{total} / values.size());
    }
  }
  return static_cast<T>(total);
}

// The same bits, or both NaN: the bits of a NaN aren't promised.
template <Element T>
bool same(T a, T b) {
  if constexpr (kIsHalf<T>) {
    return a.bits == b.bits || (std::isnan(float(a)) && std::isnan(float(b)));
  } else if constexpr (std::is_same_v<T, float>) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
           (std::isnan(a) && std::isnan(b));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
           (std::isnan(a) && std::isnan(b));
  } else {
    return a == b;
  }
}

// Calls `function(std::type_identity<T>{})` with the element type of that name.
template <typename Function>
auto with_type(DType dtype, Function&& function) {
  switch (dtype) {
    case DType::int8:
      return function(std::type_identity<std::int8_t>{});
    case DType::int16:
      return function(std::type_identity<std::int16_t>{});
    case DType::int32:
      return function(std::type_identity<std::int32_t>{});
    case DType::int64:
      return function(std::type_identity<std::int64_t>{});
    case DType::uint8:
      return function(std::type_identity<std::uint8_t>{});
    case DType::uint16:
      return function(std::type_identity<std::uint16_t>{});
    case DType::uint32:
      return function(std::type_identity<std::uint32_t>{});
    case DType::uint64:
      return function(std::type_identity<std::uint64_t>{});
    case DType::float16:
      return function(std::type_identity<float16>{});
    case DType::bfloat16:
      return function(std::type_identity<bfloat16>{});
    case DType::float32:
      return function(std::type_identity<float>{});
    case DType::float64:
      return function(std::type_identity<double>{});
  }
  throw std::logic_error("no such element type");
}

}  // namespace tensorplay::conformance
