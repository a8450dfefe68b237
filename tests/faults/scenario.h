// The scenarios: what a job does while faults happen to it.
#pragma once

#include "tests/faults/player.h"

#include <functional>
#include <string>
#include <vector>

namespace tensorplay::faults {

struct Scenario {
  std::string name;  // "joins in step"
  // Played by every rank. Throws what the group throws.
  std::function<void(Player&)> play;
};

// One per way that data take, and per protocol.
const std::vector<Scenario>& all_scenarios();

// What every scenario ends with: one operation of each size on the group.
void play_finale(Player& player);

// The scenarios with Join contexts, for all_scenarios().
std::vector<Scenario> join_scenarios();

}  // namespace tensorplay::faults
