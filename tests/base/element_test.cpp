#include <tensorplay/element.h>

#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tensorplay {
namespace {

// What makes a 16-bit format: the oracle works from these two numbers alone.
template <typename Half>
struct Format;

template <>
struct Format<float16> {
  static constexpr int kFractionBits = 10;
  static constexpr int kBias = 15;
};

template <>
struct Format<bfloat16> {
  static constexpr int kFractionBits = 7;
  static constexpr int kBias = 127;
};

template <typename Half>
constexpr std::uint32_t infinity_bits() {
  return 0x8000U - (1U << Format<Half>::kFractionBits);
}

// The number that a positive pattern stands for, by the definition of the format. The pattern of
// infinity gives the power of two where it starts to be the nearest.
template <typename Half>
double value_of(std::uint32_t pattern) {
  const int exponent = static_cast<int>(pattern >> Format<Half>::kFractionBits);
  const int fraction = static_cast<int>(pattern & ((1U << Format<Half>::kFractionBits) - 1));
  const int implicit = exponent == 0 ? 0 : 1 << Format<Half>::kFractionBits;
  const int scale = std::max(exponent, 1) - Format<Half>::kBias - Format<Half>::kFractionBits;
  return std::ldexp(fraction + implicit, scale);
}

// The values of all the patterns from 0 to infinity, in order.
template <typename Half>
const std::vector<double>& all_values() {
  static const std::vector<double> values = [] {
    std::vector<double> made;
    for (std::uint32_t i = 0; i <= infinity_bits<Half>(); ++i) made.push_back(value_of<Half>(i));
    return made;
  }();
  return values;
}

// The nearest pattern, found by search: double holds the distances exactly.
template <typename Half>
std::uint16_t nearest_bits(float number) {
  const std::uint32_t sign = std::signbit(number) ? 0x8000 : 0;
  const double magnitude = std::fabs(static_cast<double>(number));
  const std::vector<double>& values = all_values<Half>();
  const auto above = std::lower_bound(values.begin(), values.end(), magnitude);
  if (above == values.end()) return static_cast<std::uint16_t>(sign | infinity_bits<Half>());
  auto pattern = static_cast<std::uint32_t>(above - values.begin());
  if (pattern != 0) {
    const double up = *above - magnitude;
    const double down = magnitude - values[pattern - 1];
    if (down < up || (down == up && pattern % 2 != 0)) --pattern;
  }
  return static_cast<std::uint16_t>(sign | pattern);
}

template <typename Half>
Half from_bits(std::uint32_t bits) {
  Half half;
  half.bits = static_cast<std::uint16_t>(bits);
  return half;
}

template <typename Half>
bool rounds_to_nearest(float number) {
  const std::uint16_t expected = nearest_bits<Half>(number);
  const std::uint16_t actual = Half(number).bits;
  if (actual != expected) {
    BOOST_TEST_ERROR("" << std::hexfloat << number << ": expected " << std::hex << expected
                        << ", got " << actual);
  }
  return actual == expected;
}

using Halves = std::tuple<float16, bfloat16>;

BOOST_AUTO_TEST_SUITE(element)

BOOST_AUTO_TEST_CASE_TEMPLATE(every_pattern_stands_for_the_number_its_format_defines, Half,
                              Halves) {
  for (std::uint32_t pattern = 0; pattern < infinity_bits<Half>(); ++pattern) {
    const double expected = value_of<Half>(pattern);
    const auto positive = static_cast<float>(from_bits<Half>(pattern));
    const auto negative = static_cast<float>(from_bits<Half>(pattern | 0x8000));
    BOOST_REQUIRE_EQUAL(static_cast<double>(positive), expected);
    BOOST_REQUIRE_EQUAL(static_cast<double>(negative), -expected);
    BOOST_REQUIRE(!std::signbit(positive) && std::signbit(negative));
  }
  const float infinity = std::numeric_limits<float>::infinity();
  BOOST_TEST(static_cast<float>(from_bits<Half>(infinity_bits<Half>())) == infinity);
  BOOST_TEST(static_cast<float>(from_bits<Half>(infinity_bits<Half>() | 0x8000)) == -infinity);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(every_pattern_survives_the_way_to_float_and_back, Half, Halves) {
  const std::uint32_t quiet = 1U << (Format<Half>::kFractionBits - 1);
  for (std::uint32_t pattern = 0; pattern <= 0xFFFF; ++pattern) {
    const bool is_nan = (pattern & 0x7FFF) > infinity_bits<Half>();
    const auto number = static_cast<float>(from_bits<Half>(pattern));
    BOOST_REQUIRE_EQUAL(std::isnan(number), is_nan);
    BOOST_REQUIRE_EQUAL(Half(number).bits, is_nan ? pattern | quiet : pattern);
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(numbers_around_every_midpoint_round_to_nearest_even, Half, Halves) {
  const float infinity = std::numeric_limits<float>::infinity();
  bool is_right = true;
  for (std::uint32_t pattern = 0; pattern < infinity_bits<Half>(); ++pattern) {
    const double sum = value_of<Half>(pattern) + value_of<Half>(pattern + 1);
    const auto midpoint = static_cast<float>(sum / 2);
    for (const float number :
         {midpoint, std::nextafter(midpoint, 0.0F), std::nextafter(midpoint, infinity)}) {
      is_right = is_right && rounds_to_nearest<Half>(number) && rounds_to_nearest<Half>(-number);
    }
  }
  BOOST_TEST(is_right);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(random_numbers_round_to_nearest_even, Half, Halves) {
  constexpr std::uint32_t kSeed = 20;
  BOOST_TEST_CONTEXT("seed " << kSeed) {
    std::mt19937 random(kSeed);
    bool is_right = true;
    for (int i = 0; i < 1'000'000 && is_right; ++i) {
      const auto number = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
      is_right = std::isnan(number) || rounds_to_nearest<Half>(number);
    }
    BOOST_TEST(is_right);
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(numbers_at_the_ends_of_float_round_to_nearest_even, Half, Halves) {
  using Limits = std::numeric_limits<float>;
  for (const float number : {0.0F, Limits::denorm_min(), Limits::min(), Limits::max(),
                             Limits::infinity(), 65504.0F, 65519.996F, 65520.0F, 0x1p-25F}) {
    BOOST_TEST(rounds_to_nearest<Half>(number));
    BOOST_TEST(rounds_to_nearest<Half>(-number));
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(nan_stays_nan_whatever_its_payload, Half, Halves) {
  // The last one has payload bits only where the format has none.
  for (const std::uint32_t word : {0x7FC00000U, 0xFFFFFFFFU, 0x7FFFFFFFU, 0x7F800001U}) {
    BOOST_TEST(std::isnan(static_cast<float>(Half(std::bit_cast<float>(word)))));
  }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(elements_compare_as_numbers, Half, Halves) {
  BOOST_CHECK(Half(0.0F) == Half(-0.0F));
  BOOST_CHECK(Half(1.5F) == Half(1.5F));
  BOOST_CHECK(!(Half(1.5F) == Half(-1.5F)));
  const Half nan(std::numeric_limits<float>::quiet_NaN());
  BOOST_CHECK(!(nan == nan));
}

BOOST_AUTO_TEST_CASE(every_type_has_its_name_and_its_size) {
  const std::vector<std::pair<std::string, std::size_t>> expected = {
      {"int8", 1},   {"int16", 2},  {"int32", 4},   {"int64", 8},    {"uint8", 1},   {"uint16", 2},
      {"uint32", 4}, {"uint64", 8}, {"float16", 2}, {"bfloat16", 2}, {"float32", 4}, {"float64", 8},
  };
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto dtype = static_cast<DType>(i + 1);
    BOOST_TEST(name(dtype) == expected[i].first);
    BOOST_TEST(element_bytes(dtype) == expected[i].second);
  }
}

BOOST_AUTO_TEST_CASE(a_value_that_names_no_type_is_unknown_and_has_no_size) {
  for (const int value : {0, 13, 255}) {
    BOOST_TEST(name(static_cast<DType>(value)) == std::string("unknown"));
    BOOST_TEST(element_bytes(static_cast<DType>(value)) == 0U);
  }
}

BOOST_AUTO_TEST_CASE(the_type_of_a_c_plus_plus_type_is_known_at_compile_time) {
  static_assert(dtype_of<std::int8_t>() == DType::int8);
  static_assert(dtype_of<std::uint16_t>() == DType::uint16);
  static_assert(dtype_of<long>() == DType::int64);
  static_assert(dtype_of<unsigned long long>() == DType::uint64);
  static_assert(dtype_of<float16>() == DType::float16);
  static_assert(dtype_of<bfloat16>() == DType::bfloat16);
  static_assert(dtype_of<float>() == DType::float32);
  static_assert(dtype_of<double>() == DType::float64);
  static_assert(!Element<bool> && !Element<char16_t> && !Element<const float>);
  BOOST_TEST(true);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay
