// Which collectives are tested: lists that cover much with few.
#pragma once

#include "tests/conformance/operation.h"

#include <cstdint>
#include <vector>

namespace tensorplay::conformance {

// Every kind of collective whose buffers are each rank's own: all but all_reduce_shared.
const std::vector<CollectiveKind>& all_kinds();
// Every element type.
const std::vector<DType>& all_dtypes();
// The reductions that an element type has.
std::vector<ReduceOp> ops_of(DType dtype);

// Every kind with each of the counts; element types, reductions, roots, places and memory take
// turns.
std::vector<Case> kinds_by_counts(int world_size, const std::vector<std::size_t>& counts);

// Every element type with each of its reductions, in each kind that reduces.
std::vector<Case> every_reduction(int world_size);

// Every kind with blocks of just below, exactly and just above the bytes at which the way that
// data take may change.
std::vector<Case> boundaries(int world_size);

// Every kind once with blocks of several MiB.
std::vector<Case> large_blocks(int world_size);

// Any case: the same for the same random numbers, `random` moves on.
Case any_case(int world_size, std::uint64_t& random, std::size_t bytes_max);

}  // namespace tensorplay::conformance
