#include "tools/tpbench/result.h"

#include <algorithm>
#include <cmath>

namespace tensorplay::tpbench {

std::vector<double> ContestantResult::medians() const {
  std::vector<double> values;
  for (const Summary& repeat : repeats) values.push_back(repeat.median);
  return values;
}

const ContestantResult* PointResult::find(const std::string& name) const {
  for (const ContestantResult& contestant : contestants) {
    if (contestant.name == name) return &contestant;
  }
  return nullptr;
}

const ContestantResult* PointResult::best_peer() const {
  const ContestantResult* best = nullptr;
  for (const ContestantResult& contestant : contestants) {
    if (contestant.is_ours || contestant.name == kGloo) continue;
    const double median = contestant.typical().median;
    if (best == nullptr || median < best->typical().median) best = &contestant;
  }
  return best;
}

double PointResult::speedup(const ContestantResult& ours, const ContestantResult& peer) const {
  return median_ratio(peer.medians(), ours.medians());
}

double PointResult::yardstick() const {
  double seconds = limits.line;
  if (point.ranks > usable_cpus) {
    seconds = limits.yield_switch * std::ceil(static_cast<double>(point.ranks) / usable_cpus);
  }
  // Operations that are in flight at once can share a line and a turn on the CPU.
  return std::max(seconds / point.buffer_sets(), limits.copy);
}

}  // namespace tensorplay::tpbench
