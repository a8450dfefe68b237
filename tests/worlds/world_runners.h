// What the worlds share: the life of one rank. For the harness itself.
#pragma once

#include "lib/shm/segment.h"
#include "tests/worlds/worlds.h"

#include <memory>
#include <string>

namespace tensorplay::worlds {

// One rank from attaching to its end: what it found, or threw. Its group ends in here, by unwinding
// if the body throws.
std::string live_as_rank(std::shared_ptr<shm::Segment> segment, int rank, const RankBody& body,
                         const WorldOptions& options);

WorldResult run_threads(World world, const std::shared_ptr<shm::Segment>& segment,
                        const RankBody& body, const WorldOptions& options);
WorldResult run_processes(const std::shared_ptr<shm::Segment>& segment, const RankBody& body,
                          const WorldOptions& options);

}  // namespace tensorplay::worlds
