// Worlds in which one rank fails, and what the others must be told.
#pragma once

#include "tests/worlds/worlds.h"

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace tensorplay::distributed {

// Far more than it takes, far less than the group's time-out.
inline constexpr std::chrono::seconds kSoon{8};

// Runs the body in forked processes.
worlds::WorldResult run(int world_size, const worlds::RankBody& body,
                        const worlds::WorldOptions& options = {});

// Asserts that all but `failed` were told soon, all the same, with all of the words.
void expect_told(const worlds::WorldResult& result, std::size_t failed,
                 const std::vector<std::string>& words);

}  // namespace tensorplay::distributed
