// For launchers: tells ranks that still gather how one of them has ended before it came.
#pragma once

#include <tensorplay/error.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace tensorplay::distributed {

// A job as its launcher has named it to its ranks: see ProcessGroupOptions.
struct JobIdentity {
  std::string job_name;
  std::uint64_t launch = 0;
};

// Writes into the job's segment how `rank` has ended: if it never came, the others don't wait for
// it until their time is over, but throw PeerFailure. False if there is no segment of that name
// (yet, or since all have come: then they see for themselves who ends); or none of this start.
bool notify_end(const JobIdentity& job, int rank, PeerFailure::Cause cause,
                std::string_view text) noexcept;

}  // namespace tensorplay::distributed
