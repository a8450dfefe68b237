#include "lib/distributed/end_notice.h"

#include "lib/shm/segment.h"
#include "lib/sync/liveness.h"

#include <exception>

namespace tensorplay::distributed {

bool notify_end(const JobIdentity& job, int rank, PeerFailure::Cause cause,
                std::string_view text) noexcept {
  try {
    const auto segment = shm::Segment::open_named(shm::Segment::name_of(job.job_name));
    if (!segment || segment->header().launch != job.launch) return false;
    if (rank >= segment->world_size()) return false;
    sync::record_end(segment->rank_block(rank).life, cause, text);
    return true;
  } catch (const std::exception&) {
    return false;  // not a segment of ours, or no memory to map it
  }
}

}  // namespace tensorplay::distributed
