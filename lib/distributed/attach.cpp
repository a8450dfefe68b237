#include "lib/distributed/attach.h"

#include "lib/base/fault_point.h"
#include "lib/distributed/group_engine.h"
#include "lib/distributed/group_slots.h"
#include "lib/sync/liveness.h"

#include <numeric>
#include <string>
#include <vector>

namespace tensorplay::distributed {

namespace {

// Longer than any job, and far from where nanoseconds overflow.
constexpr std::chrono::milliseconds kTimeoutMax{10'000'000'000};

// Takes the memory of this rank's part in the group of all ranks. A rank that finds none can't take
// its place: the others hear of it at once.
void reserve_or_tell(shm::Segment& segment, int rank) {
  try {
    reserve_group(segment, kWorldSlot);
    reserve_member(segment, kWorldSlot, rank);
  } catch (const SegmentError& error) {
    if (sync::vitality(segment, rank) == sync::Vitality::absent) {
      sync::record_end(segment.rank_block(rank).life, PeerFailure::Cause::raised,
                       std::string("could not start: ") + error.what());
    }
    throw;
  }
}

}  // namespace

void check_timeout(std::chrono::milliseconds timeout) {
  if (timeout > std::chrono::milliseconds::zero() && timeout <= kTimeoutMax) return;
  throw InvalidArgument("timeout is " + std::to_string(timeout.count()) +
                        " ms; it must be positive and at most " +
                        std::to_string(kTimeoutMax.count()) + " ms");
}

ProcessGroup attach_rank(std::shared_ptr<shm::Segment> segment, int rank,
                         std::chrono::milliseconds timeout) {
  const int world_size = segment->world_size();
  if (rank < 0 || rank >= world_size) {
    throw InvalidArgument("rank " + std::to_string(rank) + " is outside the job of " +
                          std::to_string(world_size) + " ranks; pass 0 to " +
                          std::to_string(world_size - 1));
  }
  check_timeout(timeout);
  reserve_or_tell(*segment, rank);
  fault_point("attach.reserved");
  std::vector<int> world_ranks(static_cast<std::size_t>(world_size));
  std::iota(world_ranks.begin(), world_ranks.end(), 0);
  auto job = std::make_shared<Job>(std::move(segment), rank, timeout);
  fault_point("attach.claimed");
  return ProcessGroup(
      std::make_shared<GroupEngine>(std::move(job), kWorldSlot, rank, std::move(world_ranks)));
}

void record_end_of_rank(shm::Segment& segment, int rank, PeerFailure::Cause cause,
                        std::string_view text, int status) noexcept {
  sync::record_end(segment.rank_block(rank).life, cause, text, status);
}

}  // namespace tensorplay::distributed
