// The floating-point formats: the two with 16 bits are folded as float, bit for bit the conversions
// of element.h.
//
// Which operand's NaN an instruction hands on, and the sign of the NaN it makes, differ between
// machines, and compilers swap the operands of an addition. So a NaN leaves as one and the same,
// and it's each format's part to see to that where it costs least.
//
// Compiled once per vector unit, see fold-inl.h.

#if defined(TENSORPLAY_LIB_REDUCE_FLOAT_FORMATS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENSORPLAY_LIB_REDUCE_FLOAT_FORMATS_INL_H_
#undef TENSORPLAY_LIB_REDUCE_FLOAT_FORMATS_INL_H_
#else
#define TENSORPLAY_LIB_REDUCE_FLOAT_FORMATS_INL_H_
#endif

#include <hwy/highway.h>

#include <bit>
#include <cstdint>

#include "lib/reduce/fold-inl.h"

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

// Ones in the exponent and in the highest bit of the fraction.
template <class V>
HWY_INLINE V canonical(V v) {
  const hn::DFromV<V> tag;
  const hn::RebindToUnsigned<decltype(tag)> words;
  using Word = hn::TFromD<decltype(words)>;
  constexpr auto kQuietNaN = static_cast<Word>(sizeof(Word) == 4 ? 0x7FC0'0000 : 0x7FF8LL << 48);
  return hn::IfThenElse(hn::Eq(v, v), v, hn::BitCast(tag, hn::Set(words, kQuietNaN)));
}

template <typename T>
struct FloatFormat : Same<T> {
  template <class V>
  static HWY_INLINE V narrow(V v) {
    return canonical(v);
  }
};

struct HalfFormat : InOrder {
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

  static HWY_INLINE hn::Vec<Halves> narrow(hn::Vec<Floats> floats) {
    const auto words = hn::BitCast(Words(), floats);
    const auto is_odd = hn::And(hn::ShiftRight<16>(words), hn::Set(Words(), 1));
    const auto rounding = hn::Add(hn::Set(Words(), 0x7FFF), is_odd);
    const auto rounded = hn::ShiftRight<16>(hn::Add(words, rounding));
    return canonical_halves(hn::TruncateTo(Halves(), rounded));
  }

#if HWY_TARGET != HWY_SCALAR
  // A word holds two elements, and is taken apart and put together without moving a half to another
  // lane: twice as fast as one vector after the other.
  static constexpr bool kTakesPairs = std::endian::native == std::endian::little;
  using Pairs = hn::Repartition<std::uint16_t, Words>;

  static HWY_INLINE void widen_two(hn::Vec<Pairs> pairs, hn::Vec<Floats>& even,
                                   hn::Vec<Floats>& odd) {
    const auto words = hn::BitCast(Words(), pairs);
    even = hn::BitCast(Floats(), hn::ShiftLeft<16>(words));
    odd = hn::BitCast(Floats(), hn::And(words, hn::Set(Words(), 0xFFFF'0000)));
  }

  static HWY_INLINE hn::Vec<Pairs> narrow_two(hn::Vec<Floats> even, hn::Vec<Floats> odd) {
    const auto even_words = hn::BitCast(Words(), even);
    const auto odd_words = hn::BitCast(Words(), odd);
    const auto kept = hn::OddEven(hn::BitCast(Pairs(), odd_words),
                                  hn::BitCast(Pairs(), hn::ShiftRight<16>(even_words)));
    const auto lost = hn::OddEven(hn::BitCast(Pairs(), hn::ShiftLeft<16>(odd_words)),
                                  hn::BitCast(Pairs(), even_words));
    // The carry of lost + 0x7FFF + is_odd, which has 17 bits: the average that rounds up adds one
    // more, and gives all of them but the lowest.
    const auto is_odd = hn::And(kept, hn::Set(Pairs(), 1));
    const auto rounding = hn::Or(is_odd, hn::Set(Pairs(), 0x7FFE));
    const auto carry = hn::ShiftRight<15>(hn::AverageRound(lost, rounding));
    return canonical_halves(hn::Add(kept, carry));
  }
#endif

 private:
  // After the rounding, on half as many bits: it keeps a NaN, since what it takes away is zero in
  // each: those made of bfloat16s, and those that instructions make.
  template <class V>
  static HWY_INLINE V canonical_halves(V halves) {
    const hn::DFromV<V> tag;
    const hn::RebindToSigned<decltype(tag)> integers;
    const auto magnitude = hn::BitCast(integers, hn::And(halves, hn::Set(tag, 0x7FFF)));
    const auto is_nan = hn::Gt(magnitude, hn::Set(integers, 0x7F80));
    return hn::IfThenElse(hn::RebindMask(tag, is_nan), hn::Set(tag, 0x7FC0), halves);
  }
};

#if TENSORPLAY_CONVERTS_BINARY16

struct Binary16Format : HalfFormat {
  using Native = hn::Rebind<hwy::float16_t, Floats>;

  static HWY_INLINE hn::Vec<Floats> widen(hn::Vec<Halves> halves) {
    return hn::PromoteTo(Floats(), hn::BitCast(Native(), halves));
  }
  static HWY_INLINE hn::Vec<Halves> narrow(hn::Vec<Floats> floats) {
    return hn::BitCast(Halves(), hn::DemoteTo(Native(), canonical(floats)));
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
    const auto words = hn::BitCast(Words(), canonical(floats));
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
