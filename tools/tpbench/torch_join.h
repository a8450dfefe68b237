// PyTorch's Join over Gloo, which ours is compared with.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tensorplay::tpbench {

// Seconds per iteration, by what was measured and the number of ranks: "notify" (2, 4, 8), "throw"
// and "shadow" (2, 4), "off", "on" and "uneven" (DDP loops; 2).
using TorchTimes = std::map<std::pair<std::string, int>, double>;

// The first of some Pythons that has PyTorch. Throws Error, with the remedy, if none has.
std::string find_torch_python();

// What the program wrote. Throws Error unless it is all that there should be, each once.
TorchTimes parse_torch_times(const std::string& output);

// Runs the program `script`; `iterations`: of small things with 2 ranks. Throws Error if it fails
// or doesn't end in time: it is killed then, and its ranks with it.
TorchTimes time_torch(const std::string& python, const std::string& script, int iterations,
                      std::chrono::milliseconds patience = std::chrono::minutes(3));

}  // namespace tensorplay::tpbench
