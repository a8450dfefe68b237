// Finds the process that started the ranks of a job, for launchers that give their jobs no name.
#pragma once

#include <string>

namespace tensorplay::distributed {

// "<pid>-<start time>" of the nearest ancestor that was started without `rank_variable` in its
// environment: the launcher, even if it started each rank through a shell of its own. The same for
// all ranks that one launcher has started on this host, and for no others since it was booted. If
// /proc can't be read: the parent's pid.
std::string launcher_process(const std::string& rank_variable);

}  // namespace tensorplay::distributed
