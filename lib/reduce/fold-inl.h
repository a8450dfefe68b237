// The walk that all kernels share: which elements are read, folded and written, and when.
//
// Compiled once per vector unit: Highway includes this header again for each, so the guard is one
// that it can turn over.

#if defined(TENSORPLAY_LIB_REDUCE_FOLD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENSORPLAY_LIB_REDUCE_FOLD_INL_H_
#undef TENSORPLAY_LIB_REDUCE_FOLD_INL_H_
#else
#define TENSORPLAY_LIB_REDUCE_FOLD_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "lib/reduce/reduce_kernel.h"

HWY_BEFORE_NAMESPACE();
namespace tensorplay::reduce::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A format says how elements are stored and folded, and how to come from one to the other. By
// default each vector is widened and narrowed for itself.
struct InOrder {
  static constexpr bool kTakesPairs = false;
};

// Elements that are folded in the type they are stored in. The other formats (WideByte and those
// in float_formats-inl.h) have the same members. One that takes pairs has widen_two() and
// narrow_two() as well, which give and take the elements of even and of odd places.
template <typename T>
struct Same : InOrder {
  using Stored = T;
  using Lane = T;

  template <class V>
  static HWY_INLINE V widen(V v) {
    return v;
  }
  template <class V>
  static HWY_INLINE V narrow(V v) {
    return v;
  }
};

// What an operation does around its combine(), which folds the next value in, unless it says
// otherwise. All are static: GCC gives the constructors that it writes itself no vector unit, and
// can't inline into them.
struct Operation {
  // Applied to every value that is read.
  template <class V>
  static HWY_INLINE V enter(V value) {
    return value;
  }

  // Turns the fold into the result.
  template <class V>
  static HWY_INLINE V leave(V folded, std::uint32_t /*divisor*/) {
    return folded;
  }

  // Applied to results in memory, for what vectors can't do.
  template <typename T>
  static HWY_INLINE void settle(T* /*results*/, std::size_t /*count*/, std::uint32_t /*divisor*/) {}
};

// The elements are taken in the same blocks from all sources, so that the fold of a block stays in
// registers: memory is read once and written once, whatever the number of sources. A block is read
// from all sources before it is written, which is what lets the destination be any of them.
template <class Format, class Op>
class Fold {
 public:
  explicit HWY_INLINE Fold(const ReduceTask& task)
      : destination_(static_cast<Stored*>(task.destination)),
        sources_(task.sources),
        source_count_(task.source_count),
        count_(task.count),
        divisor_(task.divisor) {}

  HWY_INLINE void run() const {
    const std::size_t lanes = hn::Lanes(Tag());
    const std::size_t block = 4 * lanes;
    std::size_t at = 0;
    for (; count_ - at >= block; at += block) {
      fold_four_vectors(at, lanes);
      settle(at, block);
    }
    for (; count_ - at >= lanes; at += lanes) {
      fold_vector(at);
      settle(at, lanes);
    }
    if (at < count_) {
      fold_part_of_vector(at, count_ - at);
      settle(at, count_ - at);
    }
  }

 private:
  using Stored = typename Format::Stored;
  using Tag = hn::ScalableTag<typename Format::Lane>;
  using StoredTag = hn::Rebind<Stored, Tag>;
  using Vector = hn::Vec<Tag>;

  HWY_INLINE const Stored* source(std::size_t k) const {
    return static_cast<const Stored*>(sources_[k]);
  }

  HWY_INLINE Vector load(const Stored* from) const {
    return Op::enter(Format::widen(hn::LoadU(StoredTag(), from)));
  }

  HWY_INLINE void store(Vector folded, Stored* to) const {
    hn::StoreU(Format::narrow(Op::leave(folded, divisor_)), StoredTag(), to);
  }

  HWY_INLINE void settle(std::size_t at, std::size_t count) const {
    Op::settle(destination_ + at, count, divisor_);
  }

  // Four independent chains hide the latency of the operation; eight would spill where a format or
  // an operation needs registers of its own. Separate variables: some targets have vectors without
  // a size, of which there are no arrays.
  HWY_INLINE void fold_four_vectors(std::size_t at, std::size_t lanes) const {
    const Stored* from = source(0) + at;
    Vector a, b, c, d;
    load_two(from, lanes, a, b);
    load_two(from + 2 * lanes, lanes, c, d);
    for (std::size_t k = 1; k < source_count_; ++k) {
      from = source(k) + at;
      Vector e, f, g, h;
      load_two(from, lanes, e, f);
      load_two(from + 2 * lanes, lanes, g, h);
      a = Op::combine(a, e);
      b = Op::combine(b, f);
      c = Op::combine(c, g);
      d = Op::combine(d, h);
    }
    Stored* to = destination_ + at;
    store_two(a, b, to, lanes);
    store_two(c, d, to + 2 * lanes, lanes);
  }

  HWY_INLINE void load_two(const Stored* from, std::size_t lanes, Vector& a, Vector& b) const {
    if constexpr (Format::kTakesPairs) {
      Format::widen_two(hn::LoadU(typename Format::Pairs(), from), a, b);
      a = Op::enter(a);
      b = Op::enter(b);
    } else {
      a = load(from);
      b = load(from + lanes);
    }
  }

  HWY_INLINE void store_two(Vector a, Vector b, Stored* to, std::size_t lanes) const {
    if constexpr (Format::kTakesPairs) {
      const auto pairs = Format::narrow_two(Op::leave(a, divisor_), Op::leave(b, divisor_));
      hn::StoreU(pairs, typename Format::Pairs(), to);
    } else {
      store(a, to);
      store(b, to + lanes);
    }
  }

  HWY_INLINE void fold_vector(std::size_t at) const {
    Vector folded = load(source(0) + at);
    for (std::size_t k = 1; k < source_count_; ++k) {
      folded = Op::combine(folded, load(source(k) + at));
    }
    store(folded, destination_ + at);
  }

  // The last elements go through the same vector operations as all the others, with zeros in the
  // lanes beyond them: the same bits come out wherever an element stands.
  HWY_INLINE void fold_part_of_vector(std::size_t at, std::size_t rest) const {
    Vector folded = load_part(source(0) + at, rest);
    for (std::size_t k = 1; k < source_count_; ++k) {
      folded = Op::combine(folded, load_part(source(k) + at, rest));
    }
    store_part(folded, destination_ + at, rest);
  }

#if HWY_MEM_OPS_MIGHT_FAULT
  // Without masked accesses, memory beyond the last element must not be touched: it may be
  // another rank's, or not be mapped at all.
  HWY_INLINE Vector load_part(const Stored* from, std::size_t rest) const {
    HWY_ALIGN Stored lanes[hn::MaxLanes(StoredTag())] = {};
    std::memcpy(lanes, from, rest * sizeof(Stored));
    return load(lanes);
  }

  HWY_INLINE void store_part(Vector folded, Stored* to, std::size_t rest) const {
    HWY_ALIGN Stored lanes[hn::MaxLanes(StoredTag())];
    store(folded, lanes);
    std::memcpy(to, lanes, rest * sizeof(Stored));
  }
#else
  HWY_INLINE Vector load_part(const Stored* from, std::size_t rest) const {
    const auto mask = hn::FirstN(StoredTag(), rest);
    return Op::enter(Format::widen(hn::MaskedLoad(mask, StoredTag(), from)));
  }

  HWY_INLINE void store_part(Vector folded, Stored* to, std::size_t rest) const {
    const auto mask = hn::FirstN(StoredTag(), rest);
    hn::BlendedStore(Format::narrow(Op::leave(folded, divisor_)), mask, StoredTag(), to);
  }
#endif

  Stored* destination_;
  const void* const* sources_;
  std::size_t source_count_;
  std::size_t count_;
  std::uint32_t divisor_;
};

// A ReduceKernel.
template <class Format, class Op>
void fold(const ReduceTask& task) {
  Fold<Format, Op>(task).run();
}

}  // namespace tensorplay::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target guard
