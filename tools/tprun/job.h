// The name of a job, and what it may leave in the file system.
#pragma once

#include <string>

namespace tensorplay::tprun {

// 128 random bits in hexadecimal.
std::string random_job_name();

// Removes the name of the job's segment from /dev/shm, if ranks that were ended early have left it
// there. Touches nothing else and nothing of another user.
void remove_leftover(const std::string& job) noexcept;

}  // namespace tensorplay::tprun
