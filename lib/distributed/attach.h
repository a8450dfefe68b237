// Makes a rank of a process or thread that has the job's segment mapped.
#pragma once

#include "lib/shm/segment.h"

#include <tensorplay/distributed/process_group.h>

#include <chrono>
#include <memory>
#include <string_view>

namespace tensorplay::distributed {

// Throws InvalidArgument for a time-out that isn't positive, or so long that it can't be counted.
void check_timeout(std::chrono::milliseconds timeout);

// Takes the place of `rank` in the job whose memory `segment` is, for the calling thread, and gives
// the group of all ranks. Doesn't wait for the others. Throws InvalidArgument if the rank is
// outside the job, SegmentError if a living process has that place.
ProcessGroup attach_rank(std::shared_ptr<shm::Segment> segment, int rank,
                         std::chrono::milliseconds timeout);

// For whoever watches over the ranks (a parent): records how `rank` ended, so that its peers can
// say so; `status` is the exit code or the signal. Harmless if the rank said goodbye itself.
void record_end_of_rank(shm::Segment& segment, int rank, PeerFailure::Cause cause,
                        std::string_view text, int status = PeerFailure::kUnknownStatus) noexcept;

}  // namespace tensorplay::distributed
