// One job of a chaos run: a random scenario, and random faults.
#pragma once

#include "tests/faults/trial.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tensorplay::chaos {

struct RandomJob {
  faults::Scenario scenario;
  faults::Trial trial;  // refers to `scenario`; without faults
};

// How often each rank passes each fault point.
using Passes = std::vector<std::map<std::string, int>>;

// World size, policy, way of starting and scenario. The same seed, the same job.
std::unique_ptr<RandomJob> random_job(std::uint64_t seed);

// Faults for a job: at random fault points of those that its ranks pass, or at random times within
// `duration_ns`, of how long it lasts undisturbed. At least one rank is left alone.
std::vector<faults::Fault> random_faults(std::uint64_t seed, const RandomJob& job,
                                         const Passes& passes, std::int64_t duration_ns);

}  // namespace tensorplay::chaos
