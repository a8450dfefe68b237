#include <tensorplay/error.h>
#include <tensorplay/optim/step_count.h>

#include <boost/test/unit_test.hpp>
#include <limits>

namespace tensorplay::optim {
namespace {

constexpr float kLargestDigit = 16777215.0F;  // 2^24 - 1

BOOST_AUTO_TEST_SUITE(step_count)

BOOST_AUTO_TEST_CASE(begins_at_zero_and_counts) {
  StepCount steps;
  BOOST_TEST(steps.value() == 0);
  for (int i = 0; i < 5; ++i) steps.increment();
  BOOST_TEST(steps.value() == 5);
}

BOOST_AUTO_TEST_CASE(counts_on_exactly_where_one_float_would_stop) {
  StepCount steps;
  steps.digits()[0] = kLargestDigit;
  steps.increment();
  steps.increment();
  BOOST_TEST(steps.value() == (std::int64_t{1} << 24) + 1);
}

BOOST_AUTO_TEST_CASE(takes_over_a_count_that_is_written_into_its_digits) {
  StepCount source;
  source.digits()[0] = 123.0F;
  source.digits()[1] = 4567.0F;
  StepCount copy;
  for (std::size_t i = 0; i < 2; ++i) copy.digits()[i] = source.digits()[i];
  BOOST_TEST(copy.value() == 123 + (std::int64_t{4567} << 24));
}

BOOST_AUTO_TEST_CASE(refuses_digits_that_are_none) {
  for (float digit : {-1.0F, 0.5F, kLargestDigit + 1, std::numeric_limits<float>::quiet_NaN(),
                      std::numeric_limits<float>::infinity()}) {
    for (std::size_t place : {0U, 1U}) {
      StepCount steps;
      steps.digits()[place] = digit;
      BOOST_CHECK_THROW(steps.value(), InvalidArgument);
      BOOST_CHECK_THROW(steps.increment(), InvalidArgument);
    }
  }
}

BOOST_AUTO_TEST_CASE(refuses_to_count_beyond_its_digits) {
  StepCount steps;
  for (float& digit : steps.digits()) digit = kLargestDigit;
  BOOST_TEST(steps.value() == (std::int64_t{1} << 48) - 1);
  BOOST_CHECK_THROW(steps.increment(), InvalidArgument);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::optim
