// Processes that do nothing but what a collective is made of: see result.h.
#pragma once

#include "tools/tpbench/job.h"

#include <cstddef>
#include <memory>

namespace tensorplay::tpbench {

// Performs all tasks but collectives: see Task. `bytes_most`: the greatest size of a hand-over. Two
// ranks at least.
//
//   copy          each rank copies point.bytes of its own memory, new ones each time, all at once
//   hand_over     rank 0 writes a shared buffer, rank 1 reads it; then the same the other way: half
//                 the time of both
//   line          the same with one word, on two CPUs
//   yield_switch  the same on one CPU, by sched_yield
//   pipe_switch   the same on one CPU, a byte through a pipe
//   futex_wake    rank 1 sleeps on a futex on another CPU, rank 0 wakes it: until it runs
std::unique_ptr<Job> start_limit_job(int ranks, std::size_t bytes_most);

}  // namespace tensorplay::tpbench
