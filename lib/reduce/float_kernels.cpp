// The kernels of the floating-point types.

#include "lib/reduce/vector_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/reduce/float_kernels.cpp"
// First: it includes this file once more for every vector unit but one.
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <cstdint>

#include "lib/reduce/float_formats-inl.h"
#include "lib/reduce/fold-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tensorplay::reduce::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using distributed::ReduceOp;

struct FloatSum : Operation {
  template <class V>
  static HWY_INLINE V combine(V folded, V value) {
    return hn::Add(folded, value);
  }
};

struct FloatAverage : FloatSum {
  // A division, not a multiplication by the inverse: that would round twice.
  template <class V>
  static HWY_INLINE V leave(V folded, std::uint32_t divisor) {
    const hn::DFromV<V> tag;
    using Lane = hn::TFromD<decltype(tag)>;
    return hn::Div(folded, hn::Set(tag, static_cast<Lane>(divisor)));
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
    return hn::Neg(folded);
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
      return choose_operation<FloatFormat<float>>(op);
    case DType::float64:
      return choose_operation<FloatFormat<double>>(op);
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
