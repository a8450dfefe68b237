// What is left of process groups.
#pragma once

#include <sys/types.h>
#include <vector>

namespace tensorplay::tprun {

// Whether a process of one of the groups still runs; zombies don't count. False if /proc can't be
// read. Looks at every process of the host: not for inner loops.
bool any_group_lives(const std::vector<pid_t>& groups);

}  // namespace tensorplay::tprun
