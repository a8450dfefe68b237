#include "tools/tpbench/statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>

namespace tensorplay::tpbench {

double median(std::vector<double> values) {
  assert(!values.empty());
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Summary summarise(std::vector<double> samples) {
  assert(!samples.empty());
  std::ranges::sort(samples);
  const auto rank =
      static_cast<std::size_t>(std::ceil(0.99 * static_cast<double>(samples.size()) - 1e-9));
  return {.min = samples.front(),
          .median = median(samples),
          .p99 = samples[std::max<std::size_t>(rank, 1) - 1],
          .max = samples.back()};
}

Summary median_of(const std::vector<Summary>& summaries) {
  const auto median_by = [&](double Summary::*statistic) {
    std::vector<double> values;
    for (const Summary& summary : summaries) values.push_back(summary.*statistic);
    return median(values);
  };
  return {.min = median_by(&Summary::min),
          .median = median_by(&Summary::median),
          .p99 = median_by(&Summary::p99),
          .max = median_by(&Summary::max)};
}

double median_ratio(const std::vector<double>& firsts, const std::vector<double>& seconds) {
  assert(firsts.size() == seconds.size());
  std::vector<double> ratios;
  for (std::size_t i = 0; i < firsts.size(); ++i) ratios.push_back(firsts[i] / seconds[i]);
  return median(ratios);
}

}  // namespace tensorplay::tpbench
