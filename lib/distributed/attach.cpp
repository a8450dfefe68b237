#include "lib/distributed/attach.h"

#include "lib/distributed/group_engine.h"
#include "lib/distributed/group_slots.h"
#include "lib/sync/liveness.h"

#include <numeric>
#include <vector>

namespace tensorplay::distributed {

namespace {

// Longer than any job, and far from where nanoseconds overflow.
constexpr std::chrono::milliseconds kTimeoutMax{10'000'000'000};

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
  auto* header = reinterpret_cast<std::byte*>(&segment->group_header(kWorldSlot));
  segment->reserve({header, sizeof(shm::GroupHeader)}, "the group of all ranks");
  reserve_member(*segment, kWorldSlot, rank);
  std::vector<int> world_ranks(static_cast<std::size_t>(world_size));
  std::iota(world_ranks.begin(), world_ranks.end(), 0);
  auto job = std::make_shared<Job>(std::move(segment), rank, timeout);
  return ProcessGroup(
      std::make_shared<GroupEngine>(std::move(job), kWorldSlot, rank, std::move(world_ranks)));
}

void record_end_of_rank(shm::Segment& segment, int rank, PeerFailure::Cause cause,
                        std::string_view text) noexcept {
  sync::record_end(segment.rank_block(rank).life, cause, text);
}

}  // namespace tensorplay::distributed
