// Measuring several things in turns on a machine that changes under them.
//
// On a virtual machine the CPUs move: what passes between two of them takes 0.03 us at one moment
// and 0.7 us at another. So nothing is compared with what was measured at another time: within a
// repeat all contestants come one after the other, a probe before and after each, and a repeat
// whose probes disagree is taken again.
#pragma once

#include "tools/tpbench/statistics.h"

#include <functional>
#include <vector>

namespace tensorplay::tpbench {

// One repeat of one point.
struct Repeat {
  std::vector<Summary> results;  // one per contestant, in their order
  std::vector<double> probes;    // one more than contestants: seconds
  int tries = 1;                 // that it took
  bool is_steady = true;         // false: after all tries the probes still disagreed
};

struct InterleavingOptions {
  double ratio_max = 2;  // of the greatest probe to the least
  int tries_max = 3;
};

// Whether a machine that gave these probes was in one state.
bool are_steady(const std::vector<double>& probes, double ratio_max);

// Measures all contestants once, again while the probes disagree. Gives the steadiest try. Passes
// on what the contestants and the probe throw.
Repeat take_repeat(const std::vector<std::function<Summary()>>& contestants,
                   const std::function<double()>& probe, const InterleavingOptions& options = {});

}  // namespace tensorplay::tpbench
