// One paragraph that says who waits for whom, since when, and what the awaited do instead.
#pragma once

#include "lib/inspect/job_view.h"

#include <string>

namespace tensorplay::inspect {

// "ranks 0, 1, 3 wait in all_reduce #4182 (sum, float32, 65536 elements), for 41.0 s, for rank 2,
// which has been in user code for 41.2 s (sleeping); its last call was all_reduce #4181 (...)". A
// sentence for each thing that is waited for; what the groups have failed by, and who has ended, is
// said first. Where nobody waits, it says so.
std::string why(const JobView& job);

// Whether something is wrong that doesn't mend itself: a rank stopped or dead while others wait for
// it, a failed group, or ranks that wait for each other.
bool is_stuck(const JobView& job);

}  // namespace tensorplay::inspect
