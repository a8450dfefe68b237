// How a collective is measured, ours and the peers' alike.
//
// Sources hold new values before every operation: buffers that nobody has written to between two
// operations stay in the readers' caches, and flatter.
//
// Above kBatchedBytes all ranks start each operation together, and sources are filled before that.
// So it is for smaller ones of the rooted collectives: a root that runs ahead of the others would
// show how fast it hands over its data, not when they have it. (Start::back_to_back shows that.)
// Other small operations are made back to back, as in a loop that trains, and a fill of so few
// bytes belongs to what is timed. Ranks that have a CPU each are timed by the batch, since a look
// at the clock takes as long as the smallest operations; where ranks share CPUs every operation is
// timed by itself.
#pragma once

#include "tools/tpbench/rig.h"

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace tensorplay::tpbench {

inline constexpr std::size_t kBatchedBytes = std::size_t{8} << 10;

// What is measured, on one rank. The buffers aren't owned.
struct Subject {
  struct Buffers {
    std::span<std::byte> source;
    std::span<std::byte> destination;  // the same as source if the operation is in place
  };
  std::vector<Buffers> buffers;  // one, or one for each of the operations that are in flight
  std::function<void()> run;     // makes one operation on each of the buffers
  bool has_result = true;        // as pattern.h says
};

// On all ranks at once: verifies if the order says so, plans, times, and looks at the last result.
// Leaves the samples in the rig. Throws Error for a wrong result, what the subject throws, and
// OtherRankFailed.
void measure(RigRank& rank, const Order& order, const Subject& subject);

// Whether the operations of the order are made back to back.
bool is_batched(const Order& order) noexcept;

// A plan for operations that take `seconds` each.
Plan plan_for(const Order& order, double seconds) noexcept;

}  // namespace tensorplay::tpbench
