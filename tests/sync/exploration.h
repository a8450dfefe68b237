// Every order of a small model's steps.
#pragma once

#include "tests/sync/model.h"

#include <cstddef>
#include <string>

namespace tensorplay::sync {

struct Exploration {
  std::size_t state_count = 0;
  std::size_t step_count = 0;  // of all machines, from all states
  std::string finding;         // with the schedule that shows it; "" if nothing is wrong in any
};

// Visits every state that some order of steps leads to, and looks from which of them the end can be
// reached without a further fault: from one where it can't, somebody waits for ever. Gives up after
// `states_max`.
Exploration explore(Model& model, std::size_t states_max = 3'000'000);

// "12 states, 34 steps", and the finding if there is one.
std::string to_string(const Exploration& exploration);

}  // namespace tensorplay::sync
