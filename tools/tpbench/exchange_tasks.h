// The tasks in which two processes pass something to each other: see limit_job.h.
#pragma once

#include "lib/multiprocessing/file_descriptor.h"
#include "tools/tpbench/rig.h"

#include <array>
#include <cstddef>
#include <span>

namespace tensorplay::tpbench {

// What the two have in common from before their fork on.
struct Exchanged {
  std::array<std::span<std::byte>, 2> buffers;  // shared memory: written by rank 0, by rank 1
  std::array<multiprocessing::Pipe, 2> pipes;   // to rank 0, to rank 1
};

// Performed by all ranks of a job; those above 1 only meet the others. The samples are rank 0's.
void pass_line(RigRank& rank, const Order& order);
void switch_by_yield(RigRank& rank, const Order& order);
void switch_by_pipe(RigRank& rank, const Order& order, const Exchanged& exchanged);
void wake_by_futex(RigRank& rank, const Order& order);
void hand_over(RigRank& rank, const Order& order, const Exchanged& exchanged);

}  // namespace tensorplay::tpbench
