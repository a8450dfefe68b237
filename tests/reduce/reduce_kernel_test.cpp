// Every kernel against the oracle, bit for bit: all types, operations, numbers of sources, counts
// around the widths of vectors, alignments, aliases, and vector units.

#include "lib/reduce/reduce_kernel.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <tuple>
#include <vector>

#include "tests/reduce/sample_values.h"
#include "tests/reduce/scalar_fold.h"
#include "tests/reduce/vector_units.h"

namespace tensorplay::reduce {
namespace {

using distributed::ReduceOp;

using Elements =
    std::tuple<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
               std::uint32_t, std::uint64_t, float16, bfloat16, float, double>;

constexpr std::size_t kMaxSources = 9;
constexpr std::size_t kCounts[] = {0,  1,  2,  3,  7,  8,   15,   16,  17,
                                   31, 33, 63, 64, 65, 127, 1000, 4099};
constexpr std::size_t kMaxCount = 4099;
// From here on arrays are placed in the mixed way alone, and the destination is the first source or
// none: the short ones have seen everything that depends on either.
constexpr std::size_t kLongCount = 1000;

// How far the arrays start behind an aligned address, in elements.
enum class Placement { aligned, misaligned, mixed };

std::size_t offset_of(Placement placement, std::size_t array) {
  if (placement == Placement::mixed) return array % 2;
  return placement == Placement::misaligned ? 1 : 0;
}

// An array with a margin on both sides, to see what is written where it shouldn't be.
template <typename T>
class GuardedArray {
 public:
  T* at(std::size_t offset) { return storage_.data() + kMargin + offset; }

  void fill(const std::vector<T>& values, std::size_t count, std::size_t offset) {
    std::memset(static_cast<void*>(storage_.data()), kGuard, (kMargin + offset) * sizeof(T));
    std::copy_n(values.begin(), count, at(offset));
    std::memset(static_cast<void*>(at(offset) + count), kGuard, kMargin * sizeof(T));
  }

  // The bytes of the margins as well.
  bool equals(const GuardedArray& other, std::size_t count, std::size_t offset) const {
    const std::size_t bytes = (2 * kMargin + offset + count) * sizeof(T);
    return std::memcmp(storage_.data(), other.storage_.data(), bytes) == 0;
  }

 private:
  static constexpr std::size_t kMargin = 64;
  static constexpr int kGuard = 0x5A;

  std::vector<T> storage_ = std::vector<T>(kMaxCount + 2 * kMargin + 1);
};

// The arrays that a kernel works on, and what they must hold afterwards.
template <typename T>
class Bench {
 public:
  explicit Bench(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (auto& values : values_) values = sample_values<T>(kMaxCount, random);
  }

  // Computes what every other call will compare with.
  void expect(ReduceOp op, std::size_t source_count) {
    op_ = op;
    source_count_ = source_count;
    expected_.resize(kMaxCount);
    std::vector<T> column(source_count);
    for (std::size_t i = 0; i < kMaxCount; ++i) {
      for (std::size_t k = 0; k < source_count; ++k) column[k] = values_[k][i];
      expected_[i] = scalar_fold<T>(op, column, divisor());
    }
  }

  // Whether the kernel gives just that. `alias` is the source that is the destination as well;
  // source_count stands for none of them.
  bool runs_as_expected(std::size_t count, Placement placement, std::size_t alias) {
    std::vector<const void*> sources;
    for (std::size_t k = 0; k <= source_count_; ++k) {
      arrays_[k].fill(values_[k], count, offset_of(placement, k));
      if (k < source_count_) sources.push_back(arrays_[k].at(offset_of(placement, k)));
    }
    kernel_for(dtype_of<T>(), op_)({.destination = arrays_[alias].at(offset_of(placement, alias)),
                                    .sources = sources.data(),
                                    .source_count = source_count_,
                                    .count = count,
                                    .divisor = divisor()});
    bool is_right = true;
    for (std::size_t k = 0; k <= source_count_ && is_right; ++k) {
      const std::size_t offset = offset_of(placement, k);
      pattern_.fill(k == alias ? expected_ : values_[k], count, offset);
      is_right = arrays_[k].equals(pattern_, count, offset);
    }
    return is_right;
  }

 private:
  // Also one that no int8 can hold, and odd ones.
  std::uint32_t divisor() const {
    return static_cast<std::uint32_t>(source_count_ == kMaxSources ? 200 : source_count_);
  }

  ReduceOp op_ = ReduceOp::sum;
  std::size_t source_count_ = 1;
  std::vector<T> values_[kMaxSources + 1];
  std::vector<T> expected_;
  GuardedArray<T> arrays_[kMaxSources + 1];
  GuardedArray<T> pattern_;
};

template <typename T>
void check(Bench<T>& bench, std::size_t source_count, std::size_t count) {
  const bool is_long = count >= kLongCount;
  const std::size_t step = is_long ? source_count : 1;
  for (const Placement placement : {Placement::aligned, Placement::misaligned, Placement::mixed}) {
    if (is_long && placement != Placement::mixed) continue;
    for (std::size_t alias = 0; alias <= source_count; alias += step) {
      if (bench.runs_as_expected(count, placement, alias)) continue;
      BOOST_ERROR("wrong bits: " << source_count << " sources of " << count << ", placement "
                                 << static_cast<int>(placement) << ", destination " << alias);
    }
  }
}

template <typename T>
void check_operation(Bench<T>& bench, ReduceOp op) {
  for (std::size_t source_count = 1; source_count <= kMaxSources; ++source_count) {
    bench.expect(op, source_count);
    on_every_vector_unit([&] {
      for (const std::size_t count : kCounts) check(bench, source_count, count);
    });
  }
}

BOOST_AUTO_TEST_SUITE(reduce_kernel)

BOOST_AUTO_TEST_CASE_TEMPLATE(every_kernel_gives_the_bits_of_a_left_fold, T, Elements) {
  Bench<T> bench(sample_seed());
  for (int value = 1; value <= 8; ++value) {
    const auto op = static_cast<ReduceOp>(value);
    if (!is_defined(dtype_of<T>(), op)) continue;
    BOOST_TEST_CONTEXT(name(op) << " of " << name(dtype_of<T>())) {
      check_operation(bench, op);
    }
  }
  BOOST_TEST(true);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::reduce
