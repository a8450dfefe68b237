// Which rows each rank trains on, and in which batches: a plan, without data and without a group.
//
// Each epoch has ONE order of all training rows, and deals it out like cards. In round k every rank
// that has rows left takes the next `batch_rows` of the order (fewer in its last round):
//
//     order:  | rank 0 | rank 1 | rank 2 | rank 3 | rank 0 | rank 1 | rank 2 | rank 0 | ...
//             '---------- round 0 ---------------' '------- round 1 --------' '- 2 ...
//                                                   rank 3 has had its share
//
// Round k is thus one contiguous piece of the order, whoever takes part. With even shards it is the
// k-th batch of a single process whose batches are world size times as long: both make the same
// steps, up to the rounding of sums. With uneven ones the ranks with small shares run out earlier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tensorplay::train {

// The order of an epoch: each row once, the same on all ranks.
std::vector<std::size_t> epoch_order(std::size_t row_count, std::uint64_t seed, int epoch);

// The plan of all epochs of a run. A value; the same arguments give the same plan on every rank.
class Sharding {
 public:
  using Batch = std::span<const std::size_t>;  // row numbers, a piece of the epoch's order

  // One share per rank: any proportions, not negative, not all zero (asserted; settings.h tells the
  // user). Rows are apportioned by largest remainders: each rank's number of rows is its exact
  // share, rounded down or up. Equal shares differ by one row at most, the lower rank having more.
  // `batch_rows` is at least 1.
  Sharding(std::size_t row_count, std::span<const double> shares, std::size_t batch_rows);

  int rank_count() const noexcept { return static_cast<int>(row_counts_.size()); }
  // Per epoch, of one rank.
  std::size_t row_count(int rank) const { return row_counts_[static_cast<std::size_t>(rank)]; }
  std::size_t batch_count(int rank) const;

  // The batches of `rank` in an epoch whose rows come in `order`, which has to outlive them. None
  // is empty. All ranks' batches together hold each row of the order once.
  std::vector<Batch> batches(int rank, Batch order) const;

 private:
  std::vector<std::size_t> row_counts_;
  std::size_t batch_rows_;
};

}  // namespace tensorplay::train
