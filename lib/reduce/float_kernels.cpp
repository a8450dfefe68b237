// The kernels of the floating-point types.

#include "lib/reduce/vector_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/reduce/float_kernels.cpp"
// First: it includes this file once more for every vector unit but one.
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <cstdint>

#include "lib/reduce/fold-inl.h"
#include "lib/reduce/half_formats-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tensorplay::reduce::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using distributed::ReduceOp;

// Which operand's NaN an instruction hands on, and the sign of the NaN it makes, differ between
// machines, and compilers swap the operands of an addition. So a NaN leaves as one and the same.
template <class V>
HWY_INLINE V canonical(V v) {
  const hn::DFromV<V> tag;
  const hn::RebindToUnsigned<decltype(tag)> words;
  using Word = hn::TFromD<decltype(words)>;
  // Ones in the exponent and in the highest bit of the fraction.
  constexpr auto kQuietNaN = static_cast<Word>(sizeof(Word) == 4 ? 0x7FC0'0000 : 0x7FF8LL << 48);
  return hn::IfThenElse(hn::Eq(v, v), v, hn::BitCast(tag, hn::Set(words, kQuietNaN)));
}

struct FloatSum : Operation {
  template <class V>
  static HWY_INLINE V combine(V folded, V value) {
    return hn::Add(folded, value);
  }
  template <class V>
  static HWY_INLINE V leave(V folded, std::uint32_t /*divisor*/) {
    return canonical(folded);
  }
};

struct FloatAverage : FloatSum {
  // A division, not a multiplication by the inverse: that would round twice.
  template <class V>
  static HWY_INLINE V leave(V folded, std::uint32_t divisor) {
    const hn::DFromV<V> tag;
    using Lane = hn::TFromD<decltype(tag)>;
    return canonical(hn::Div(folded, hn::Set(tag, static_cast<Lane>(divisor))));
  }
};

struct FloatProduct : FloatSum {
  template <class V>
  static HWY_INLINE V combine(V folded, V value) {
    return hn::Mul(folded, value);
  }
};

struct FloatMin : FloatSum {
  // Neither below the other: they are equal, and Or gives -0 for two zeros of which one is; or one
  // of them is NaN, and Or keeps its exponent of ones and its fraction that isn't zero.
  template <class V>
  static HWY_INLINE V combine(V folded, V value) {
    const auto higher_or_neither =
        hn::IfThenElse(hn::Lt(value, folded), value, hn::Or(folded, value));
    return hn::IfThenElse(hn::Lt(folded, value), folded, higher_or_neither);
  }
};

// The minimum of the negated values, negated.
struct FloatMax : FloatMin {
  template <class V>
  static HWY_INLINE V enter(V value) {
    return hn::Neg(value);
  }
  template <class V>
  static HWY_INLINE V leave(V folded, std::uint32_t /*divisor*/) {
    return canonical(hn::Neg(folded));
  }
};

template <class Format>
ReduceKernel choose_operation(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return &fold<Format, FloatSum>;
    case ReduceOp::avg:
      return &fold<Format, FloatAverage>;
    case ReduceOp::product:
      return &fold<Format, FloatProduct>;
    case ReduceOp::min:
      return &fold<Format, FloatMin>;
    case ReduceOp::max:
      return &fold<Format, FloatMax>;
    default:
      return nullptr;
  }
}

ReduceKernel choose_float_kernel(DType dtype, ReduceOp op) {
  switch (dtype) {
    case DType::float16:
      return choose_operation<Binary16Format>(op);
    case DType::bfloat16:
      return choose_operation<BrainFormat>(op);
    case DType::float32:
      return choose_operation<Same<float>>(op);
    case DType::float64:
      return choose_operation<Same<double>>(op);
    default:
      return nullptr;
  }
}

}  // namespace tensorplay::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tensorplay::reduce {

HWY_EXPORT(choose_float_kernel);

ReduceKernel float_kernel_for(DType dtype, distributed::ReduceOp op) {
  return HWY_DYNAMIC_DISPATCH(choose_float_kernel)(dtype, op);
}

}  // namespace tensorplay::reduce
#endif
