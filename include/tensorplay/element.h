// The element types that collectives carry: integers of 8 to 64 bits, float, double, and the two
// 16-bit floating-point formats, which the language lacks.
#pragma once

#if defined(__cplusplus) && __cplusplus < 202002L
#error "TensorPlay needs C++20: compile with -std=c++20"
#endif

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tensorplay {

// IEEE 754 binary16: 1 sign, 5 exponent and 10 fraction bits. Storage only; convert to compute.
struct float16 {
  std::uint16_t bits = 0;

  float16() = default;
  // Rounds to nearest, ties to even; overflow gives infinity; NaN stays NaN.
  explicit float16(float value) noexcept;
  explicit operator float() const noexcept;
  friend bool operator==(float16 a, float16 b) noexcept { return float(a) == float(b); }
};

// The upper half of an IEEE 754 binary32: 1 sign, 8 exponent and 7 fraction bits. Storage only.
struct bfloat16 {
  std::uint16_t bits = 0;

  bfloat16() = default;
  // Rounds to nearest, ties to even; NaN stays NaN.
  explicit bfloat16(float value) noexcept;
  explicit operator float() const noexcept;
  friend bool operator==(bfloat16 a, bfloat16 b) noexcept { return float(a) == float(b); }
};

// The run-time name of an element type. Part of the segment's binary interface: values are fixed.
enum class DType : std::uint8_t {
  int8 = 1,
  int16 = 2,
  int32 = 3,
  int64 = 4,
  uint8 = 5,
  uint16 = 6,
  uint32 = 7,
  uint64 = 8,
  float16 = 9,
  bfloat16 = 10,
  float32 = 11,
  float64 = 12,
};

// Bytes of one element: 1, 2, 4 or 8; 0 for a value that names no type.
constexpr std::size_t element_bytes(DType dtype) noexcept {
  switch (dtype) {
    case DType::int8:
    case DType::uint8:
      return 1;
    case DType::int16:
    case DType::uint16:
    case DType::float16:
    case DType::bfloat16:
      return 2;
    case DType::int32:
    case DType::uint32:
    case DType::float32:
      return 4;
    case DType::int64:
    case DType::uint64:
    case DType::float64:
      return 8;
  }
  // The value came out of shared memory, or of a cast.
  return 0;
}
// "int8" ... "float64"; "unknown" for a value that names no type.
const char* name(DType dtype) noexcept;

namespace element {

template <typename T>
consteval DType integer_dtype() {
  constexpr int kWidth = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  return static_cast<DType>((std::is_signed_v<T> ? 1 : 5) + kWidth);
}

}  // namespace element

// What a collective's span may hold. `bool`, and character types other than the int8 and uint8
// ones, are left out on purpose: their arithmetic isn't what a reduction means.
template <typename T>
concept Element = std::same_as<T, std::remove_cvref_t<T>> &&
    ((std::integral<T> && sizeof(T) <= 8 && !std::same_as<T, bool> && !std::same_as<T, char> &&
      !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> && !std::same_as<T, char16_t> &&
      !std::same_as<T, char32_t>) ||
     std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, float16> ||
     std::same_as<T, bfloat16>);

// The DType of an element type, at compile time: dtype_of<float>() == DType::float32.
template <Element T>
consteval DType dtype_of() {
  if constexpr (std::same_as<T, float>) {
    return DType::float32;
  } else if constexpr (std::same_as<T, double>) {
    return DType::float64;
  } else if constexpr (std::same_as<T, float16>) {
    return DType::float16;
  } else if constexpr (std::same_as<T, bfloat16>) {
    return DType::bfloat16;
  } else {
    return element::integer_dtype<T>();
  }
}

}  // namespace tensorplay
