// The two 16-bit floating-point formats, folded as float: bit for bit the conversions of element.h.
//
// Compiled once per vector unit, see fold-inl.h.

#if defined(TENSORPLAY_LIB_REDUCE_HALF_FORMATS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENSORPLAY_LIB_REDUCE_HALF_FORMATS_INL_H_
#undef TENSORPLAY_LIB_REDUCE_HALF_FORMATS_INL_H_
#else
#define TENSORPLAY_LIB_REDUCE_HALF_FORMATS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

// These units convert binary16 in hardware, rounding to nearest even. Highway's own conversions for
// the other units truncate and know neither infinity nor NaN.
#if (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL) && \
    !defined(HWY_DISABLE_F16C)
#define TENSORPLAY_CONVERTS_BINARY16 1
#else
#define TENSORPLAY_CONVERTS_BINARY16 0
#endif

HWY_BEFORE_NAMESPACE();
namespace tensorplay::reduce::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

struct HalfFormat {
  using Stored = std::uint16_t;
  using Lane = float;
  using Floats = hn::ScalableTag<float>;
  using Words = hn::RebindToUnsigned<Floats>;
  using Halves = hn::Rebind<std::uint16_t, Floats>;
};

// The upper half of a float.
struct BrainFormat : HalfFormat {
  static HWY_INLINE hn::Vec<Floats> widen(hn::Vec<Halves> halves) {
    return hn::BitCast(Floats(), hn::ShiftLeft<16>(hn::PromoteTo(Words(), halves)));
  }

  // NaNs need no care: the operations leave only the canonical one, which rounding keeps.
  static HWY_INLINE hn::Vec<Halves> narrow(hn::Vec<Floats> floats) {
    const auto words = hn::BitCast(Words(), floats);
    const auto is_odd = hn::And(hn::ShiftRight<16>(words), hn::Set(Words(), 1));
    const auto rounding = hn::Add(hn::Set(Words(), 0x7FFF), is_odd);
    return hn::TruncateTo(Halves(), hn::ShiftRight<16>(hn::Add(words, rounding)));
  }
};

#if TENSORPLAY_CONVERTS_BINARY16

struct Binary16Format : HalfFormat {
  using Native = hn::Rebind<hwy::float16_t, Floats>;

  static HWY_INLINE hn::Vec<Floats> widen(hn::Vec<Halves> halves) {
    return hn::PromoteTo(Floats(), hn::BitCast(Native(), halves));
  }
  static HWY_INLINE hn::Vec<Halves> narrow(hn::Vec<Floats> floats) {
    return hn::BitCast(Halves(), hn::DemoteTo(Native(), floats));
  }
};

#else

struct Binary16Format : HalfFormat {
  static HWY_INLINE hn::Vec<Floats> widen(hn::Vec<Halves> halves) {
    const auto words = hn::PromoteTo(Words(), halves);
    const auto magnitude = hn::And(words, hn::Set(Words(), 0x7FFF));
    const auto sign = hn::ShiftLeft<16>(hn::Xor(words, magnitude));
    return hn::BitCast(Floats(), hn::Or(sign, widen_magnitude(magnitude)));
  }

  static HWY_INLINE hn::Vec<Halves> narrow(hn::Vec<Floats> floats) {
    const auto words = hn::BitCast(Words(), floats);
    const auto magnitude = hn::And(words, hn::Set(Words(), 0x7FFF'FFFF));
    const auto sign = hn::ShiftRight<16>(hn::Xor(words, magnitude));
    return hn::TruncateTo(Halves(), hn::Or(sign, narrow_magnitude(magnitude)));
  }

 private:
  using Word = hn::Vec<Words>;

  static HWY_INLINE Word widen_magnitude(Word magnitude) {
    const auto excess = hn::Set(Words(), (127 - 15) << 23);
    const auto normal = hn::Add(hn::ShiftLeft<13>(magnitude), excess);
    // Infinity and NaN: the exponent must become all ones again.
    const auto special = hn::Add(normal, excess);
    // Units of 2^-24. Both the conversion and the multiplication by a power of two are exact.
    const hn::RebindToSigned<Floats> integers;
    const auto units = hn::ConvertTo(Floats(), hn::BitCast(integers, magnitude));
    const auto tiny = hn::BitCast(Words(), hn::Mul(units, hn::Set(Floats(), 0x1p-24F)));
    const auto finite = hn::IfThenElse(is_below(magnitude, 0x0400), tiny, normal);
    return hn::IfThenElse(is_below(magnitude, 0x7C00), finite, special);
  }

  static HWY_INLINE Word narrow_magnitude(Word magnitude) {
    const auto is_odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(Words(), 1));
    // 0x0FFF rounds; the rest takes the excess of the exponent away.
    const auto bias = hn::Set(Words(), 0x0FFFU - ((127U - 15U) << 23));
    const auto normal = hn::ShiftRight<13>(hn::Add(magnitude, hn::Add(bias, is_odd)));
    // The fraction of 0.5 + x counts units of 2^-24: the addition rounds to a subnormal.
    const auto half = hn::Set(Words(), 126 << 23);
    const auto shifted = hn::Add(hn::BitCast(Floats(), magnitude), hn::BitCast(Floats(), half));
    const auto tiny = hn::Sub(hn::BitCast(Words(), shifted), half);
    const auto is_number = is_below(magnitude, 0x7F80'0001);
    const auto beyond =
        hn::IfThenElse(is_number, hn::Set(Words(), 0x7C00), hn::Set(Words(), 0x7E00));
    const auto finite = hn::IfThenElse(is_below(magnitude, 113 << 23), tiny, normal);
    return hn::IfThenElse(is_below(magnitude, (127 + 16) << 23), finite, beyond);
  }

  // The sign bit is clear on both sides, so signed comparison will do: unsigned is slow before
  // AVX-512.
  static HWY_INLINE hn::Mask<Words> is_below(Word magnitude, std::int32_t bound) {
    const hn::RebindToSigned<Words> integers;
    const auto below = hn::Lt(hn::BitCast(integers, magnitude), hn::Set(integers, bound));
    return hn::RebindMask(Words(), below);
  }
};

#endif
#undef TENSORPLAY_CONVERTS_BINARY16

}  // namespace tensorplay::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
