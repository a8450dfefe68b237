#include "tools/train/sharding.h"

#include "tools/train/seeded_random.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

namespace tensorplay::train {
namespace {

// Largest remainders: everyone gets the whole rows of the exact share; what is left goes, one row
// each, to the greatest remainders, to the lower rank where they are equal.
std::vector<std::size_t> apportion(std::size_t row_count, std::span<const double> shares) {
  const double greatest = *std::max_element(shares.begin(), shares.end());
  assert(greatest > 0);
  // Relative to the greatest, so that their sum is finite whatever they are.
  double total = 0;
  for (double share : shares) total += share / greatest;

  std::vector<std::size_t> counts;
  std::vector<double> remainders;
  for (double share : shares) {
    const double exact = static_cast<double>(row_count) * (share / greatest) / total;
    counts.push_back(static_cast<std::size_t>(exact));
    remainders.push_back(exact - std::floor(exact));
  }
  std::vector<std::size_t> ranks(shares.size());
  std::iota(ranks.begin(), ranks.end(), std::size_t{0});
  std::stable_sort(ranks.begin(), ranks.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  const std::size_t given = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  assert(given <= row_count && row_count - given <= ranks.size());
  for (std::size_t i = 0; i < row_count - given; ++i) ++counts[ranks[i]];
  return counts;
}

}  // namespace

std::vector<std::size_t> epoch_order(std::size_t row_count, std::uint64_t seed, int epoch) {
  return shuffled(row_count,
                  SeededRandom(seed, Purpose::epoch_order, static_cast<std::uint32_t>(epoch)));
}

Sharding::Sharding(std::size_t row_count, std::span<const double> shares, std::size_t batch_rows)
    : row_counts_(apportion(row_count, shares)), batch_rows_(batch_rows) {
  assert(batch_rows > 0);
}

std::size_t Sharding::batch_count(int rank) const {
  return row_count(rank) / batch_rows_ + (row_count(rank) % batch_rows_ != 0 ? 1 : 0);
}

std::vector<Sharding::Batch> Sharding::batches(int rank, Batch order) const {
  assert(order.size() == std::accumulate(row_counts_.begin(), row_counts_.end(), std::size_t{0}));
  std::vector<Batch> dealt;
  std::vector<std::size_t> left = row_counts_;
  for (std::size_t begin = 0; begin < order.size();) {
    for (int other = 0; other < rank_count(); ++other) {
      std::size_t& left_here = left[static_cast<std::size_t>(other)];
      const std::size_t taken = std::min(left_here, batch_rows_);
      if (other == rank && taken > 0) dealt.push_back(order.subspan(begin, taken));
      left_here -= taken;
      begin += taken;
    }
  }
  return dealt;
}

}  // namespace tensorplay::train
