// Examples to learn from or to be tested on.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <span>
#include <vector>

namespace tensorplay::train {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// One example a row: its inputs and the class that it belongs to. As many classes as rows.
struct Examples {
  Matrix inputs;
  std::vector<int> classes;

  std::size_t count() const noexcept { return classes.size(); }
  // Copies of the rows named, in that order; a row may be named more than once.
  Examples rows(std::span<const std::size_t> indices) const;
  // A copy of the part that falls to `rank` when the rows are cut into `rank_count` parts, as equal
  // as can be: the parts of all ranks cover each row once. Parts may be empty.
  Examples part(int rank, int rank_count) const;
};

}  // namespace tensorplay::train
