// A measurement that starts its own ranks and ends with them.
#pragma once

#include "tools/tpbench/rig.h"

#include <tensorplay/distributed/process_group.h>

#include <functional>
#include <vector>

namespace tensorplay::tpbench {

using RankBody = std::function<void(distributed::ProcessGroup& group, RigRank& rank)>;

// Spawns `ranks` ranks, each bound to a CPU if there are enough, and runs `body` in all of them.
// Gives what they have noted, sample by sample the greatest. Throws what spawn() throws.
std::vector<double> measure_ranks(int ranks, const RankBody& body);

// The same without a group, for what begins before there is one.
std::vector<double> measure_children(int ranks, const std::function<void(RigRank& rank)>& body);

}  // namespace tensorplay::tpbench
