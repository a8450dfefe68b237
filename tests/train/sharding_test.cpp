#include "tools/train/sharding.h"

#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <numeric>
#include <ostream>

namespace tensorplay::train {
namespace {

namespace data = boost::unit_test::data;

struct Shares {
  std::vector<double> values;
  friend std::ostream& operator<<(std::ostream& stream, const Shares& shares) {
    for (double value : shares.values) stream << value << ' ';
    return stream;
  }
};

const std::vector<Shares> kShares = {
    {{1}},
    {{1, 1, 1, 1}},
    {{40, 30, 20, 10}},
    {{100, 0}},
    {{0, 0, 3}},
    {{0.1, 0.2, 0.7}},
    {{1e300, 1e300, 1e-300}},
    {{1, 1, 1, 1, 1, 1, 1}},
    {{5, 4, 3, 2, 1, 0.5, 1000}},
};

std::vector<std::vector<Sharding::Batch>> all_batches(const Sharding& sharding,
                                                      Sharding::Batch order) {
  std::vector<std::vector<Sharding::Batch>> all;
  for (int rank = 0; rank < sharding.rank_count(); ++rank) {
    all.push_back(sharding.batches(rank, order));
  }
  return all;
}

BOOST_AUTO_TEST_SUITE(sharding)

BOOST_DATA_TEST_CASE(every_row_is_dealt_to_one_rank_once,
                     data::make(kShares) * data::make({0, 1, 5, 64, 1438}) * data::make({1, 16}),
                     shares, row_count, batch_rows) {
  const auto rows = static_cast<std::size_t>(row_count);
  const Sharding plan(rows, shares.values, static_cast<std::size_t>(batch_rows));
  const auto order = epoch_order(rows, 3, 1);
  std::vector<std::size_t> dealt;
  for (const auto& batches : all_batches(plan, order)) {
    for (Sharding::Batch batch : batches) dealt.insert(dealt.end(), batch.begin(), batch.end());
  }
  std::ranges::sort(dealt);
  std::vector<std::size_t> expected(rows);
  std::iota(expected.begin(), expected.end(), std::size_t{0});
  BOOST_TEST(dealt == expected);
}

BOOST_DATA_TEST_CASE(each_rank_has_its_exact_share_rounded_down_or_up,
                     data::make(kShares) * data::make({0, 1, 5, 64, 1438}), shares, row_count) {
  const Sharding plan(static_cast<std::size_t>(row_count), shares.values, 16);
  const double greatest = *std::ranges::max_element(shares.values);
  double total = 0;
  for (double share : shares.values) total += share / greatest;
  for (int rank = 0; rank < plan.rank_count(); ++rank) {
    const double exact =
        row_count * (shares.values[static_cast<std::size_t>(rank)] / greatest) / total;
    BOOST_TEST(std::abs(static_cast<double>(plan.row_count(rank)) - exact) < 1);
  }
}

BOOST_DATA_TEST_CASE(batches_are_full_but_for_a_ranks_last, data::make(kShares), shares) {
  const Sharding plan(1438, shares.values, 16);
  const auto order = epoch_order(1438, 3, 1);
  for (int rank = 0; rank < plan.rank_count(); ++rank) {
    const auto batches = plan.batches(rank, order);
    BOOST_TEST(batches.size() == plan.batch_count(rank));
    std::size_t rows = 0;
    for (std::size_t i = 0; i < batches.size(); ++i) {
      if (i + 1 < batches.size()) BOOST_TEST(batches[i].size() == 16u);
      BOOST_TEST(!batches[i].empty());
      rows += batches[i].size();
    }
    BOOST_TEST(rows == plan.row_count(rank));
  }
}

BOOST_AUTO_TEST_CASE(uneven_shares_give_uneven_numbers_of_batches) {
  const std::vector<double> shares{40, 30, 20, 10};
  const Sharding plan(1438, shares, 16);
  const std::vector<std::size_t> expected{36, 27, 18, 9};
  for (int rank = 0; rank < 4; ++rank) {
    BOOST_TEST(plan.batch_count(rank) == expected[static_cast<std::size_t>(rank)]);
  }
}

BOOST_AUTO_TEST_CASE(equal_shares_differ_by_one_row_and_the_lower_rank_has_more) {
  const std::vector<double> even(4, 1.0);
  const Sharding plan(1438, even, 16);
  BOOST_TEST(plan.row_count(0) == 360u);
  BOOST_TEST(plan.row_count(1) == 360u);
  BOOST_TEST(plan.row_count(2) == 359u);
  BOOST_TEST(plan.row_count(3) == 359u);
}

BOOST_AUTO_TEST_CASE(a_zero_share_has_no_batch) {
  const std::vector<double> shares{100, 0};
  const Sharding plan(7, shares, 2);
  BOOST_TEST(plan.row_count(1) == 0u);
  BOOST_TEST(plan.batch_count(1) == 0u);
  BOOST_TEST(plan.batches(1, epoch_order(7, 1, 1)).empty());
}

BOOST_DATA_TEST_CASE(the_kth_batches_of_even_ranks_make_the_kth_batch_of_one,
                     data::make({2, 3, 4, 8}) * data::make({1, 63, 64, 1409, 1438}), ranks,
                     row_count) {
  const auto rank_count = static_cast<std::size_t>(ranks);
  const auto rows = static_cast<std::size_t>(row_count);
  const auto order = epoch_order(rows, 5, 2);
  const std::vector<double> even(rank_count, 1.0), single{1.0};
  const auto many = all_batches(Sharding(rows, even, 16), order);
  const auto one = Sharding(rows, single, 16 * rank_count).batches(0, order);
  for (std::size_t k = 0; k < one.size(); ++k) {
    std::vector<std::size_t> together;
    for (const auto& batches : many) {
      if (k < batches.size()) together.insert(together.end(), batches[k].begin(), batches[k].end());
    }
    BOOST_TEST(together == std::vector<std::size_t>(one[k].begin(), one[k].end()));
  }
}

BOOST_AUTO_TEST_CASE(the_order_is_named_by_seed_and_epoch) {
  BOOST_TEST(epoch_order(100, 1, 1) == epoch_order(100, 1, 1));
  BOOST_TEST(epoch_order(100, 1, 1) != epoch_order(100, 1, 2));
  BOOST_TEST(epoch_order(100, 1, 1) != epoch_order(100, 2, 1));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::train
