// Our own ranks, to be measured.
#pragma once

#include "tools/tpbench/job.h"

#include <cstddef>
#include <memory>

namespace tensorplay::tpbench {

// multiprocessing::spawn'ed; `arena_bytes`: room for allocate(), per rank.
std::unique_ptr<Job> start_own_job(int ranks, std::size_t arena_bytes);

}  // namespace tensorplay::tpbench
