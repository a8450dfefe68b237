// How many CPUs the ranks of a job have among them.
#pragma once

#include "lib/shm/layout.h"

namespace tensorplay::sync {

// Adds the CPUs that this process may run on to the job's. Once per rank.
void publish_usable_cpus(shm::SegmentHeader& header) noexcept;

// The CPUs that the ranks which have attached so far may run on, but no more than the cgroup's
// quota lets them use: at least 1. What a launcher's environment says doesn't count.
int usable_cpus(const shm::SegmentHeader& header) noexcept;

// The quota of the calling process's cgroup, in whole CPUs, rounded up; 0 if there is none.
int cgroup_cpus() noexcept;

}  // namespace tensorplay::sync
