// Large jobs in random orders.
#pragma once

#include "tests/sync/stepped_rank.h"

#include <cstdint>
#include <string>

namespace tensorplay::sync {

// A job of up to eight ranks, several contexts, and up to some fifty iterations.
JobPlan random_plan(std::uint64_t seed);

// Runs the job to its end; what went wrong, with the seed, "" if nothing. For stretches some
// machines are many times as fast as others, so that ranks run ahead as far as the protocol allows.
std::string run_in_random_order(const JobPlan& plan, std::uint64_t seed);

}  // namespace tensorplay::sync
