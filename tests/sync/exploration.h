// Every order of a small job's steps.
#pragma once

#include "tests/sync/stepped_rank.h"

#include <cstddef>
#include <string>

namespace tensorplay::sync {

struct Exploration {
  std::size_t state_count = 0;
  std::string finding;  // "" if nothing is wrong in any of them
};

// Visits every state that some order of steps leads to, and looks from which of them the end can be
// reached: from one where it can't, somebody waits for ever. Gives up after `states_max`.
Exploration explore(const JobPlan& plan, std::size_t states_max = 3'000'000);

}  // namespace tensorplay::sync
