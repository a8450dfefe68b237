// Large models in random orders.
#pragma once

#include "tests/sync/model.h"

#include <cstdint>
#include <string>

namespace tensorplay::sync {

// Runs the model to its end; what went wrong, with the seed, "" if nothing. For stretches some
// machines are many times as fast as others, so that ranks run ahead as far as the protocol allows.
// Faults happen at random moments, now and then none.
std::string run_in_random_order(Model& model, std::uint64_t seed);

}  // namespace tensorplay::sync
