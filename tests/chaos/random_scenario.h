// A scenario made of random steps.
#pragma once

#include "tests/faults/scenario.h"

#include <cstdint>

namespace tensorplay::chaos {

// Collectives of any kind, type and size, one after the other and many at once; Join contexts and
// training with uneven inputs; parts of the group that do the same. Any seed will do; the same one
// gives the same scenario.
faults::Scenario random_scenario(std::uint64_t seed);

}  // namespace tensorplay::chaos
