// The corners of the arithmetic, written out: what the oracle says is one thing, what a reader
// expects is another.

#include <tensorplay/error.h>

#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "lib/reduce/reduce_kernel.h"
#include "tests/reduce/sample_values.h"
#include "tests/reduce/scalar_fold.h"
#include "tests/reduce/vector_units.h"

namespace tensorplay::reduce {
namespace {

using distributed::ReduceOp;

using Floats = std::tuple<float16, bfloat16, float, double>;
using Signed = std::tuple<std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
using Unsigned = std::tuple<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;

// One element per source; 67 copies of it, so that whole vectors and the rest both see it.
template <typename T>
T reduce(ReduceOp op, const std::vector<T>& values, std::uint32_t divisor = 1) {
  constexpr std::size_t kCopies = 67;
  std::vector<std::vector<T>> arrays;
  std::vector<const void*> sources;
  for (const T value : values) arrays.emplace_back(kCopies, value);
  for (const auto& array : arrays) sources.push_back(array.data());
  std::vector<T> result(kCopies);
  kernel_for(dtype_of<T>(), op)({.destination = result.data(),
                                 .sources = sources.data(),
                                 .source_count = sources.size(),
                                 .count = kCopies,
                                 .divisor = divisor});
  for (const T value : result) {
    BOOST_REQUIRE(std::memcmp(&value, result.data(), sizeof(T)) == 0);
  }
  return result.front();
}

template <typename T>
Accumulator<T> reduce_floats(ReduceOp op, const std::vector<double>& numbers,
                             std::uint32_t divisor = 1) {
  std::vector<T> values;
  for (const double number : numbers)
    values.push_back(static_cast<T>(static_cast<Accumulator<T>>(number)));
  return static_cast<Accumulator<T>>(reduce(op, values, divisor));
}

template <typename T>
constexpr T kMin = std::numeric_limits<T>::min();
template <typename T>
constexpr T kMax = std::numeric_limits<T>::max();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

BOOST_AUTO_TEST_SUITE(special_values)

BOOST_AUTO_TEST_CASE_TEMPLATE(min_and_max_give_nan_wherever_a_nan_stands, T, Floats) {
  on_every_vector_unit([] {
    for (const ReduceOp op : {ReduceOp::min, ReduceOp::max}) {
      for (std::size_t at = 0; at < 4; ++at) {
        std::vector<double> numbers = {1, -kInfinity, kInfinity, -3};
        numbers[at] = at % 2 == 0 ? kNaN : -kNaN;
        BOOST_TEST(std::isnan(reduce_floats<T>(op, numbers)));
      }
    }
  });
}

BOOST_AUTO_TEST_CASE_TEMPLATE(every_nan_leaves_as_the_same_bits, T, Floats) {
  const auto expected = scalar_result<T>(std::numeric_limits<Accumulator<T>>::quiet_NaN());
  on_every_vector_unit([&] {
    for (const ReduceOp op :
         {ReduceOp::sum, ReduceOp::avg, ReduceOp::product, ReduceOp::min, ReduceOp::max}) {
      const auto nan = static_cast<T>(static_cast<Accumulator<T>>(-kNaN));
      for (const T actual : {reduce<T>(op, {nan}), reduce<T>(op, {nan, nan})}) {
        BOOST_TEST(std::memcmp(&actual, &expected, sizeof(T)) == 0);
      }
    }
  });
}

BOOST_AUTO_TEST_CASE_TEMPLATE(opposite_infinities_have_no_sum, T, Floats) {
  on_every_vector_unit([] {
    BOOST_TEST(std::isnan(reduce_floats<T>(ReduceOp::sum, {kInfinity, -kInfinity})));
    BOOST_TEST(std::isnan(reduce_floats<T>(ReduceOp::product, {kInfinity, 0})));
    BOOST_TEST(reduce_floats<T>(ReduceOp::sum, {kInfinity, kInfinity}) == kInfinity);
    BOOST_TEST(reduce_floats<T>(ReduceOp::avg, {kInfinity, 1}, 2) == kInfinity);
    BOOST_TEST(reduce_floats<T>(ReduceOp::min, {kInfinity, -kInfinity, 0}) == -kInfinity);
    BOOST_TEST(reduce_floats<T>(ReduceOp::max, {-kInfinity, 0, kInfinity}) == kInfinity);
  });
}

BOOST_AUTO_TEST_CASE_TEMPLATE(minus_zero_is_below_zero, T, Floats) {
  on_every_vector_unit([] {
    BOOST_TEST(std::signbit(reduce_floats<T>(ReduceOp::min, {0.0, -0.0})));
    BOOST_TEST(std::signbit(reduce_floats<T>(ReduceOp::min, {-0.0, 0.0})));
    BOOST_TEST(!std::signbit(reduce_floats<T>(ReduceOp::max, {0.0, -0.0})));
    BOOST_TEST(!std::signbit(reduce_floats<T>(ReduceOp::max, {-0.0, 0.0})));
    BOOST_TEST(std::signbit(reduce_floats<T>(ReduceOp::max, {-0.0, -0.0})));
    BOOST_TEST(std::signbit(reduce_floats<T>(ReduceOp::sum, {-0.0, -0.0})));
    BOOST_TEST(!std::signbit(reduce_floats<T>(ReduceOp::sum, {-0.0, 0.0})));
  });
}

BOOST_AUTO_TEST_CASE_TEMPLATE(the_smallest_subnormals_add_up, T, Floats) {
  const auto smallest = std::bit_cast<T>(WordOf<T>{1});
  const auto thrice = std::bit_cast<T>(WordOf<T>{3});
  on_every_vector_unit([&] {
    const T sum = reduce<T>(ReduceOp::sum, {smallest, smallest, smallest});
    BOOST_TEST(std::memcmp(&sum, &thrice, sizeof(T)) == 0);
    const T least = reduce<T>(ReduceOp::min, {thrice, smallest});
    BOOST_TEST(std::memcmp(&least, &smallest, sizeof(T)) == 0);
  });
}

BOOST_AUTO_TEST_CASE(halves_are_rounded_once_after_the_fold) {
  on_every_vector_unit([] {
    // Each of the small ones alone would be rounded away.
    BOOST_TEST(reduce_floats<float16>(ReduceOp::sum, {2048, 1, 1, 1, 1}) == 2052);
    BOOST_TEST(reduce_floats<bfloat16>(ReduceOp::sum, {256, 1, 1, 1, 1}) == 260);
    // The sum is no float16, its half is.
    BOOST_TEST(reduce_floats<float16>(ReduceOp::avg, {65504, 65504}, 2) == 65504);
  });
}

BOOST_AUTO_TEST_CASE(floats_are_folded_from_the_left) {
  on_every_vector_unit([] {
    BOOST_TEST(reduce_floats<float>(ReduceOp::sum, {0x1p24, 1, -0x1p24, 1}) == 1);
    BOOST_TEST(reduce_floats<float>(ReduceOp::sum, {1, 1, 0x1p24, -0x1p24}) == 2);
    BOOST_TEST(reduce_floats<double>(ReduceOp::sum, {0x1p53, 1, -0x1p53, 1}) == 1);
  });
}

BOOST_AUTO_TEST_CASE_TEMPLATE(signed_integers_wrap_around, T, Signed) {
  on_every_vector_unit([] {
    BOOST_TEST(reduce<T>(ReduceOp::sum, {kMax<T>, 1}) == kMin<T>);
    BOOST_TEST(reduce<T>(ReduceOp::sum, {kMin<T>, kMin<T>}) == 0);
    BOOST_TEST(reduce<T>(ReduceOp::product, {kMin<T>, -1}) == kMin<T>);
    BOOST_TEST(reduce<T>(ReduceOp::product, {kMax<T>, kMax<T>}) == 1);
    BOOST_TEST(reduce<T>(ReduceOp::min, {kMax<T>, kMin<T>, 0}) == kMin<T>);
    BOOST_TEST(reduce<T>(ReduceOp::max, {kMin<T>, -1, kMax<T>}) == kMax<T>);
  });
}

BOOST_AUTO_TEST_CASE_TEMPLATE(unsigned_integers_wrap_around, T, Unsigned) {
  on_every_vector_unit([] {
    BOOST_TEST(reduce<T>(ReduceOp::sum, {kMax<T>, 1}) == 0);
    BOOST_TEST(reduce<T>(ReduceOp::product, {kMax<T>, kMax<T>}) == 1);
    BOOST_TEST(reduce<T>(ReduceOp::min, {kMax<T>, 1}) == 1);
    BOOST_TEST(reduce<T>(ReduceOp::max, {1, kMax<T>, 0}) == kMax<T>);
    BOOST_TEST(reduce<T>(ReduceOp::avg, {kMax<T>, 0}, 2) == kMax<T> / 2);
  });
}

BOOST_AUTO_TEST_CASE_TEMPLATE(averages_of_integers_truncate_towards_zero, T, Signed) {
  on_every_vector_unit([] {
    BOOST_TEST(reduce<T>(ReduceOp::avg, {-3, -4}, 2) == -3);
    BOOST_TEST(reduce<T>(ReduceOp::avg, {3, 4}, 2) == 3);
    BOOST_TEST(reduce<T>(ReduceOp::avg, {-1, 0}, 2) == 0);
    BOOST_TEST(reduce<T>(ReduceOp::avg, {kMin<T>}, 1) == kMin<T>);
    BOOST_TEST(reduce<T>(ReduceOp::avg, {kMin<T>, 0}, 2) == kMin<T> / 2);
    BOOST_TEST(reduce<T>(ReduceOp::avg, {-100}, 4'000'000'000) ==
               static_cast<T>(-100 / INT64_C(4'000'000'000)));
  });
}

BOOST_AUTO_TEST_CASE(quotients_of_all_16_bit_sums_are_exact) {
  on_every_vector_unit([] {
    for (const int divisor : {3, 7, 127, 255}) {
      std::vector<std::int16_t> values;
      for (int value = -32768; value <= 32767; ++value)
        values.push_back(static_cast<std::int16_t>(value));
      const void* source = values.data();
      std::vector<std::int16_t> result(values.size());
      kernel_for(DType::int16, ReduceOp::avg)({.destination = result.data(),
                                               .sources = &source,
                                               .source_count = 1,
                                               .count = values.size(),
                                               .divisor = static_cast<std::uint32_t>(divisor)});
      for (std::size_t i = 0; i < values.size(); ++i) {
        BOOST_REQUIRE_EQUAL(result[i], values[i] / divisor);
      }
    }
  });
}

BOOST_AUTO_TEST_CASE(bitwise_reductions_of_floating_point_values_are_refused_by_name) {
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64}) {
    for (const ReduceOp op : {ReduceOp::band, ReduceOp::bor, ReduceOp::bxor}) {
      BOOST_TEST(!is_defined(dtype, op));
      BOOST_CHECK_EXCEPTION(kernel_for(dtype, op), InvalidArgument,
                            [&](const InvalidArgument& error) {
                              const std::string text = error.what();
                              return text.find(name(dtype)) != std::string::npos &&
                                     text.find(name(op)) != std::string::npos;
                            });
    }
  }
}

BOOST_AUTO_TEST_CASE(values_that_name_nothing_are_refused_by_number) {
  const auto is_told = [](const InvalidArgument& error) {
    return std::string(error.what()).find("unknown (99)") != std::string::npos;
  };
  constexpr auto kNoType = static_cast<DType>(99);
  constexpr auto kNoOperation = static_cast<ReduceOp>(99);
  BOOST_TEST(!is_defined(kNoType, ReduceOp::sum));
  BOOST_TEST(!is_defined(DType::int8, kNoOperation));
  BOOST_TEST(!is_defined(DType::int8, static_cast<ReduceOp>(0)));
  BOOST_CHECK_EXCEPTION(kernel_for(kNoType, ReduceOp::sum), InvalidArgument, is_told);
  BOOST_CHECK_EXCEPTION(kernel_for(DType::int8, kNoOperation), InvalidArgument, is_told);
}

BOOST_AUTO_TEST_CASE(every_reduction_has_its_name) {
  const std::vector<std::string> names = {"unknown", "sum",  "avg", "product", "min",
                                          "max",     "band", "bor", "bxor",    "unknown"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    BOOST_TEST(name(static_cast<ReduceOp>(i)) == names[i]);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::reduce
