#include "lib/nn/bucket_plan.h"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>

namespace tensorplay::nn {
namespace {

constexpr std::size_t kFloat = sizeof(float);

std::vector<std::vector<std::size_t>> cut(const std::vector<std::size_t>& counts,
                                          std::size_t bucket_bytes) {
  std::vector<std::vector<std::size_t>> result;
  for (const Bucket& bucket : plan_buckets(counts, bucket_bytes).buckets) {
    auto& parameters = result.emplace_back();
    for (const BucketSlot& slot : bucket.slots) parameters.push_back(slot.parameter);
  }
  return result;
}

using Cut = std::vector<std::vector<std::size_t>>;

// What holds of every plan.
void check_properties(const std::vector<std::size_t>& counts, std::size_t bucket_bytes) {
  const BucketPlan plan = plan_buckets(counts, bucket_bytes);
  const std::size_t capacity = bucket_bytes / kFloat;
  BOOST_TEST_REQUIRE(plan.bucket_of.size() == counts.size());
  std::size_t next = counts.size();
  std::size_t previous_count = 0;
  for (std::size_t index = 0; index < plan.buckets.size(); ++index) {
    const Bucket& bucket = plan.buckets[index];
    BOOST_TEST_REQUIRE(!bucket.slots.empty());
    std::size_t offset = 0;
    for (const BucketSlot& slot : bucket.slots) {
      BOOST_TEST(slot.parameter == --next);
      BOOST_TEST(slot.offset == offset);
      BOOST_TEST(slot.count == counts[slot.parameter]);
      BOOST_TEST(plan.bucket_of[slot.parameter] == index);
      offset += slot.count;
    }
    BOOST_TEST(bucket.count == offset);
    BOOST_TEST((bucket.count <= capacity || bucket.slots.size() == 1));
    if (index > 0) BOOST_TEST(previous_count + bucket.slots.front().count > capacity);
    previous_count = bucket.count;
  }
  BOOST_TEST(next == 0U);
}

BOOST_AUTO_TEST_SUITE(bucket_plan)

BOOST_AUTO_TEST_CASE(a_model_without_parameters_has_no_buckets) {
  BOOST_TEST(plan_buckets({}, 1024).buckets.empty());
}

BOOST_AUTO_TEST_CASE(the_last_parameter_comes_first) {
  BOOST_TEST((cut({1, 2, 3}, 1024) == Cut{{2, 1, 0}}));
}

BOOST_AUTO_TEST_CASE(a_bucket_holds_what_fits_and_not_one_element_more) {
  BOOST_TEST((cut({3, 2, 2}, 4 * kFloat) == Cut{{2, 1}, {0}}));
  BOOST_TEST((cut({3, 2, 2}, 4 * kFloat - 1) == Cut{{2}, {1}, {0}}));
}

BOOST_AUTO_TEST_CASE(a_parameter_that_is_too_large_gets_a_bucket_of_its_own) {
  BOOST_TEST((cut({1, 100, 1}, 4 * kFloat) == Cut{{2}, {1}, {0}}));
}

BOOST_AUTO_TEST_CASE(without_room_every_parameter_is_alone) {
  BOOST_TEST((cut({2, 1, 3}, 0) == Cut{{2}, {1}, {0}}));
}

BOOST_AUTO_TEST_CASE(empty_parameters_have_their_place) {
  BOOST_TEST((cut({0, 4, 0}, 4 * kFloat) == Cut{{2, 1, 0}}));
  BOOST_TEST((cut({0, 0}, 0) == Cut{{1, 0}}));
}

BOOST_AUTO_TEST_CASE(sizes_near_the_end_of_the_range_do_not_overflow) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  BOOST_TEST((cut({5, kMost / 2}, 1024) == Cut{{1}, {0}}));
  BOOST_TEST((cut({5, 7}, kMost) == Cut{{1, 0}}));
}

BOOST_AUTO_TEST_CASE(any_plan_covers_each_parameter_once_with_as_few_buckets_as_fit) {
  std::mt19937 random(20240229);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::size_t> counts(random() % 40);
    for (std::size_t& count : counts) count = random() % 3 == 0 ? 0 : random() % 300;
    const std::size_t bucket_bytes = random() % 2000;
    BOOST_TEST_CONTEXT("round " << round) {
      check_properties(counts, bucket_bytes);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::nn
