#include "tools/tpbench/interleaving.h"

#include <algorithm>
#include <utility>

namespace tensorplay::tpbench {
namespace {

double spread(const std::vector<double>& probes) {
  const auto [least, most] = std::ranges::minmax(probes);
  return most / least;
}

}  // namespace

bool are_steady(const std::vector<double>& probes, double ratio_max) {
  return spread(probes) <= ratio_max;
}

Repeat take_repeat(const std::vector<std::function<Summary()>>& contestants,
                   const std::function<double()>& probe, const InterleavingOptions& options) {
  Repeat best;
  for (int tries = 1;; ++tries) {
    Repeat repeat;
    repeat.probes.push_back(probe());
    for (const auto& contestant : contestants) {
      repeat.results.push_back(contestant());
      repeat.probes.push_back(probe());
    }
    repeat.is_steady = are_steady(repeat.probes, options.ratio_max);
    if (tries == 1 || spread(repeat.probes) < spread(best.probes)) best = std::move(repeat);
    best.tries = tries;
    if (best.is_steady || tries == options.tries_max) return best;
  }
}

}  // namespace tensorplay::tpbench
