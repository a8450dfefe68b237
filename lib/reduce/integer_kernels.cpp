// The kernels of the integers.

#include "lib/reduce/vector_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/reduce/integer_kernels.cpp"
// First: it includes this file once more for every vector unit but one.
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "lib/reduce/fold-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tensorplay::reduce::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using distributed::ReduceOp;

// Bytes that are folded as 16-bit words, of which the lower half counts: no unit multiplies bytes.
struct WideByte : InOrder {
  using Stored = std::uint8_t;
  using Lane = std::uint16_t;
  using Words = hn::ScalableTag<std::uint16_t>;
  using Bytes = hn::Rebind<std::uint8_t, Words>;

  static HWY_INLINE hn::Vec<Words> widen(hn::Vec<Bytes> bytes) {
    return hn::PromoteTo(Words(), bytes);
  }
  static HWY_INLINE hn::Vec<Bytes> narrow(hn::Vec<Words> words) {
    return hn::TruncateTo(Bytes(), words);
  }
};

struct Sum : Operation {
  template <class V>
  static HWY_INLINE V combine(V folded, V value) {
    return hn::Add(folded, value);
  }
};

struct Product : Operation {
  template <class V>
  static HWY_INLINE V combine(V folded, V value) {
    return hn::Mul(folded, value);
  }
};

struct Min : Operation {
  template <class V>
  static HWY_INLINE V combine(V folded, V value) {
    return hn::Min(folded, value);
  }
};

struct Max : Operation {
  template <class V>
  static HWY_INLINE V combine(V folded, V value) {
    return hn::Max(folded, value);
  }
};

struct BitAnd : Operation {
  template <class V>
  static HWY_INLINE V combine(V folded, V value) {
    return hn::And(folded, value);
  }
};

struct BitOr : Operation {
  template <class V>
  static HWY_INLINE V combine(V folded, V value) {
    return hn::Or(folded, value);
  }
};

struct BitXor : Operation {
  template <class V>
  static HWY_INLINE V combine(V folded, V value) {
    return hn::Xor(folded, value);
  }
};

// T is what the bits of the unsigned sum mean.
template <typename T>
struct Average : Sum {
  // No unit divides integers. In memory rather than in an array of lanes: GCC 12 misaligns vectors
  // of 64 bytes next to arrays that the address sanitizer watches.
  static HWY_INLINE void settle(std::make_unsigned_t<T>* results, std::size_t count,
                                std::uint32_t divisor) {
    for (std::size_t i = 0; i < count; ++i) {
      const T average = divide(static_cast<T>(results[i]), divisor);
      results[i] = static_cast<std::make_unsigned_t<T>>(average);
    }
  }

 private:
  // The divisor may not fit into T, but it always fits into both of these.
  //
  // double is faster than 64-bit integers and as exact for 32 bits: a quotient that is no integer
  // lies at least 1 / divisor from the next one, which is more than double's rounding can bridge.
  using Wide =
      std::conditional_t<sizeof(T) < 8, double,
                         std::conditional_t<std::signed_integral<T>, std::int64_t, std::uint64_t>>;

  static HWY_INLINE T divide(T sum, std::uint32_t divisor) {
    return static_cast<T>(static_cast<Wide>(sum) / static_cast<Wide>(divisor));
  }
};

// Wherever the sign doesn't matter to the bits, the unsigned type serves both: its overflow is
// defined.
template <typename T>
ReduceKernel choose_operation(ReduceOp op) {
  using Unsigned = Same<std::make_unsigned_t<T>>;
  using Factors = std::conditional_t<sizeof(T) == 1, WideByte, Unsigned>;
  switch (op) {
    case ReduceOp::sum:
      return &fold<Unsigned, Sum>;
    case ReduceOp::avg:
      return &fold<Unsigned, Average<T>>;
    case ReduceOp::product:
      return &fold<Factors, Product>;
    case ReduceOp::min:
      return &fold<Same<T>, Min>;
    case ReduceOp::max:
      return &fold<Same<T>, Max>;
    case ReduceOp::band:
      return &fold<Unsigned, BitAnd>;
    case ReduceOp::bor:
      return &fold<Unsigned, BitOr>;
    case ReduceOp::bxor:
      return &fold<Unsigned, BitXor>;
  }
  return nullptr;
}

ReduceKernel choose_integer_kernel(DType dtype, ReduceOp op) {
  switch (dtype) {
    case DType::int8:
      return choose_operation<std::int8_t>(op);
    case DType::int16:
      return choose_operation<std::int16_t>(op);
    case DType::int32:
      return choose_operation<std::int32_t>(op);
    case DType::int64:
      return choose_operation<std::int64_t>(op);
    case DType::uint8:
      return choose_operation<std::uint8_t>(op);
    case DType::uint16:
      return choose_operation<std::uint16_t>(op);
    case DType::uint32:
      return choose_operation<std::uint32_t>(op);
    case DType::uint64:
      return choose_operation<std::uint64_t>(op);
    default:
      return nullptr;
  }
}

}  // namespace tensorplay::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tensorplay::reduce {

HWY_EXPORT(choose_integer_kernel);

ReduceKernel integer_kernel_for(DType dtype, distributed::ReduceOp op) {
  return HWY_DYNAMIC_DISPATCH(choose_integer_kernel)(dtype, op);
}

}  // namespace tensorplay::reduce
#endif
