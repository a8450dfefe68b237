#include "tools/train/examples.h"

#include <numeric>

namespace tensorplay::train {

Examples Examples::rows(std::span<const std::size_t> indices) const {
  Examples copy;
  copy.inputs.resize(static_cast<Eigen::Index>(indices.size()), inputs.cols());
  copy.classes.reserve(indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    copy.inputs.row(static_cast<Eigen::Index>(i)) =
        inputs.row(static_cast<Eigen::Index>(indices[i]));
    copy.classes.push_back(classes[indices[i]]);
  }
  return copy;
}

Examples Examples::part(int rank, int rank_count) const {
  const auto place = static_cast<std::size_t>(rank);
  const auto places = static_cast<std::size_t>(rank_count);
  const std::size_t begin = count() * place / places;
  const std::size_t end = count() * (place + 1) / places;
  std::vector<std::size_t> indices(end - begin);
  std::iota(indices.begin(), indices.end(), begin);
  return rows(indices);
}

}  // namespace tensorplay::train
