// What is told of many times that were measured.
#pragma once

#include <vector>

namespace tensorplay::tpbench {

// Seconds.
struct Summary {
  double min = 0;
  double median = 0;
  double p99 = 0;  // the least sample that at most 1 % exceed
  double max = 0;
};

// Of at least one value. The mean of the two in the middle where their number is even.
double median(std::vector<double> values);

// Of at least one sample.
Summary summarise(std::vector<double> samples);

// The median of each statistic over several summaries, at least one.
Summary median_of(const std::vector<Summary>& summaries);

// The median over the pairs of first / second: for what was measured in turns, so that each pair
// saw the machine in the same state. Both have the same length, at least 1; no second is 0.
double median_ratio(const std::vector<double>& firsts, const std::vector<double>& seconds);

}  // namespace tensorplay::tpbench
