#include <tensorplay/element.h>

#include <bit>

namespace tensorplay {
namespace {

// Fields of an IEEE 754 binary32.
constexpr std::uint32_t kSign32 = 0x8000'0000;
constexpr std::uint32_t kInfinity32 = 0x7F80'0000;
constexpr std::uint32_t kImplicitBit32 = 0x0080'0000;
constexpr int kFractionBits32 = 23;

// Fields of a binary16.
constexpr std::uint32_t kInfinity16 = 0x7C00;
constexpr std::uint32_t kQuiet16 = 0x0200;
constexpr std::uint32_t kFraction16 = 0x03FF;

// The quiet bit of a NaN in the upper half of a binary32.
constexpr std::uint32_t kQuietUpper32 = 0x0040;

constexpr int kDroppedBits = kFractionBits32 - 10;
// What the exponent of a binary32 exceeds that of the equal binary16 by.
constexpr std::uint32_t kExponentExcess = 127 - 15;
constexpr std::uint32_t kSmallestNormal16 = (kExponentExcess + 1) << kFractionBits32;
// 65536: what is smaller may still round down to the largest finite value, or up to infinity.
constexpr std::uint32_t kBeyond16 = (kExponentExcess + 31) << kFractionBits32;

// Integers rather than floating-point tricks: the result must not depend on the rounding mode, nor
// on a flush-to-zero mode, that the program has set.
constexpr std::uint32_t shift_to_nearest_even(std::uint32_t value, std::uint32_t shift) {
  const std::uint32_t below_half = (1U << (shift - 1)) - 1;
  const std::uint32_t is_odd = (value >> shift) & 1;
  return (value + below_half + is_odd) >> shift;
}

// `magnitude` lies below the smallest normal binary16.
constexpr std::uint32_t subnormal_binary16(std::uint32_t magnitude) {
  // The unit is 2^-24; a significand of exponent e counts units of 2^(e - 150).
  constexpr std::uint32_t kUnitExponent = 126;
  constexpr std::uint32_t kLargestShift = 24;
  const std::uint32_t shift = kUnitExponent - (magnitude >> kFractionBits32);
  if (shift > kLargestShift) return 0;
  const std::uint32_t fraction = magnitude & (kImplicitBit32 - 1);
  return shift_to_nearest_even(fraction | kImplicitBit32, shift);
}

constexpr std::uint32_t binary16_magnitude(std::uint32_t magnitude) {
  if (magnitude > kInfinity32) {
    return kInfinity16 | kQuiet16 | ((magnitude >> kDroppedBits) & kFraction16);
  }
  if (magnitude >= kBeyond16) return kInfinity16;
  if (magnitude < kSmallestNormal16) return subnormal_binary16(magnitude);
  // A carry out of the fraction ends up in the exponent, which is where it belongs.
  return shift_to_nearest_even(magnitude - (kExponentExcess << kFractionBits32), kDroppedBits);
}

constexpr std::uint32_t binary32_magnitude(std::uint32_t magnitude) {
  const std::uint32_t widened = magnitude << kDroppedBits;
  if (magnitude >= kInfinity16) return widened | kInfinity32;
  if (magnitude > kFraction16) return widened + (kExponentExcess << kFractionBits32);
  if (magnitude == 0) return 0;
  // A subnormal is a normal binary32: its leading one becomes the implicit bit.
  const auto shift = static_cast<std::uint32_t>(std::countl_zero(magnitude)) - 8;
  const std::uint32_t exponent = 126 - shift;
  return (exponent << kFractionBits32) + ((magnitude << shift) - kImplicitBit32);
}

}  // namespace

float16::float16(float value) noexcept {
  const auto word = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (word & kSign32) >> 16;
  bits = static_cast<std::uint16_t>(sign | binary16_magnitude(word & ~kSign32));
}

float16::operator float() const noexcept {
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  return std::bit_cast<float>(sign | binary32_magnitude(bits & 0x7FFFU));
}

bfloat16::bfloat16(float value) noexcept {
  const auto word = std::bit_cast<std::uint32_t>(value);
  const bool is_nan = (word & ~kSign32) > kInfinity32;
  // Rounding could carry a NaN over into infinity, or zero.
  bits = static_cast<std::uint16_t>(is_nan ? (word >> 16) | kQuietUpper32
                                           : shift_to_nearest_even(word, 16));
}

bfloat16::operator float() const noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

const char* name(DType dtype) noexcept {
  switch (dtype) {
    case DType::int8:
      return "int8";
    case DType::int16:
      return "int16";
    case DType::int32:
      return "int32";
    case DType::int64:
      return "int64";
    case DType::uint8:
      return "uint8";
    case DType::uint16:
      return "uint16";
    case DType::uint32:
      return "uint32";
    case DType::uint64:
      return "uint64";
    case DType::float16:
      return "float16";
    case DType::bfloat16:
      return "bfloat16";
    case DType::float32:
      return "float32";
    case DType::float64:
      return "float64";
  }
  return "unknown";
}

}  // namespace tensorplay
