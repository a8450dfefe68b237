// The values that are sent, and the serial computation of what has to come out.

#include "tools/tpbench/pattern.h"

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <span>
#include <vector>

namespace tensorplay::tpbench {
namespace {

using distributed::CollectiveKind;
using distributed::ReduceOp;

constexpr Turn kVaried{.number = 5, .is_varied = true};

std::vector<float> source_of(const Point& point, int rank, Turn turn) {
  std::vector<float> values(point.source_count());
  fill(point, rank, turn, std::as_writable_bytes(std::span(values)));
  return values;
}

std::string checked(const Point& point, int rank, Turn turn, const std::vector<float>& values) {
  return check(point, rank, turn, std::as_bytes(std::span(values)));
}

BOOST_AUTO_TEST_SUITE(pattern)

BOOST_AUTO_TEST_CASE(counts_are_of_whole_elements_and_at_least_one) {
  BOOST_TEST((Point{.bytes = 4}.source_count()) == 1u);
  BOOST_TEST((Point{.bytes = 1}.source_count()) == 1u);
  const Point gather{.kind = CollectiveKind::all_gather, .ranks = 4, .bytes = 4};
  BOOST_TEST(gather.source_count() == 1u);
  BOOST_TEST(gather.destination_count() == 4u);
  BOOST_TEST(gather.whole_bytes() == 16u);
  const Point scatter{.kind = CollectiveKind::reduce_scatter, .ranks = 2, .bytes = 1024};
  BOOST_TEST(scatter.source_count() == 256u);
  BOOST_TEST(scatter.destination_count() == 128u);
}

BOOST_AUTO_TEST_CASE(what_was_summed_by_hand_is_right_and_one_other_element_is_found) {
  const Point point{.ranks = 3, .bytes = 400};
  std::vector<float> sum(100);
  for (int rank = 0; rank < 3; ++rank) {
    const auto source = source_of(point, rank, kVaried);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += source[i];
  }
  BOOST_TEST(checked(point, 1, kVaried, sum) == "");
  sum[73] += 1;
  BOOST_TEST(checked(point, 1, kVaried, sum).starts_with("element 73 of rank 1 is "));
}

BOOST_AUTO_TEST_CASE(a_misplaced_block_is_found) {
  const Point point{.kind = CollectiveKind::all_gather, .ranks = 2, .bytes = 256};
  std::vector<float> all = source_of(point, 0, kVaried);
  const auto second = source_of(point, 1, kVaried);
  all.insert(all.end(), second.begin(), second.end());
  BOOST_TEST(checked(point, 0, kVaried, all) == "");
  std::swap_ranges(all.begin(), all.begin() + 32, all.begin() + 32);
  BOOST_TEST(checked(point, 0, kVaried, all) != "");
}

BOOST_AUTO_TEST_CASE(elements_of_a_source_differ_if_asked_and_turns_always) {
  const Point point{.bytes = 400};
  const auto varied = source_of(point, 0, kVaried);
  BOOST_TEST(std::vector<float>(varied.size(), varied[0]) != varied);
  const auto even = source_of(point, 0, {.number = 7});
  BOOST_TEST(std::vector<float>(even.size(), even[0]) == even);
  BOOST_TEST(source_of(point, 0, {.number = 8}) != even);
}

BOOST_AUTO_TEST_CASE(each_reduction_has_its_own_result) {
  // In turn 1 rank 0 sends 2 and rank 1 sends 3; of products 2 and 1.
  const auto value_of = [](ReduceOp op, std::int32_t value) {
    const Point point{.dtype = DType::int32, .op = op, .bytes = 4};
    return check(point, 0, {.number = 1}, std::as_bytes(std::span(&value, 1)));
  };
  BOOST_TEST(value_of(ReduceOp::sum, 5) == "");
  BOOST_TEST(value_of(ReduceOp::avg, 2) == "");
  BOOST_TEST(value_of(ReduceOp::product, 2) == "");
  BOOST_TEST(value_of(ReduceOp::min, 2) == "");
  BOOST_TEST(value_of(ReduceOp::max, 3) == "");
  BOOST_TEST(value_of(ReduceOp::band, 2) == "");
  BOOST_TEST(value_of(ReduceOp::bor, 3) == "");
  BOOST_TEST(value_of(ReduceOp::bxor, 1) == "");
  BOOST_TEST(value_of(ReduceOp::sum, 4) != "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::tpbench
