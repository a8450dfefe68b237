// How ranks that were started apart find each other: a segment under the job's name.
//
//   first rank to come     makes the segment, locked; claims the maker's life; publishes
//   the others             find it; wait while it is locked; refuse what isn't theirs
//   every rank             takes its place, then waits until all places are taken
//   any rank               removes the name once all have attached (or nobody came in time)
#include "lib/distributed/attach.h"
#include "lib/distributed/group_engine.h"
#include "lib/distributed/job_name.h"
#include "lib/sync/liveness.h"

#include <tensorplay/distributed/process_group.h>

#include <chrono>
#include <string>
#include <thread>

namespace tensorplay::distributed {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPollInterval{1};

void check_options(const ProcessGroupOptions& options) {
  if (options.world_size < 1 || options.world_size > kRankCountMax) {
    throw InvalidArgument("world_size is " + std::to_string(options.world_size) +
                          "; it must be 1 to " + std::to_string(kRankCountMax));
  }
  if (options.rank < 0 || options.rank >= options.world_size) {
    throw InvalidArgument("rank " + std::to_string(options.rank) + " is outside a job of " +
                          std::to_string(options.world_size) + " ranks; it must be 0 to " +
                          std::to_string(options.world_size - 1));
  }
  if (options.timeout <= std::chrono::milliseconds::zero()) {
    throw InvalidArgument("timeout is " + std::to_string(options.timeout.count()) +
                          " ms; it must be positive");
  }
  check_job_name(options.job_name);
}

// Whether nobody who has ever used the segment can still be using it.
bool is_leftover(const shm::Segment& segment) {
  const auto in_use = [](const shm::Life& life) {
    return sync::vitality(life) == sync::Vitality::alive;
  };
  if (in_use(segment.header().maker)) return false;
  for (int rank = 0; rank < segment.world_size(); ++rank) {
    if (in_use(segment.rank_block(rank).life)) return false;
  }
  return true;
}

// The job's segment, made or found; null if it's worth another try.
std::shared_ptr<shm::Segment> make_or_find(const std::string& name,
                                           const shm::SegmentOptions& options) {
  if (auto made = shm::Segment::create_named(name, options)) {
    sync::claim_life(made->header().maker);
    made->publish();
    return made;
  }
  auto found = shm::Segment::open_named(name, options);
  if (!found || !is_leftover(*found)) return found;
  found->unlink_name();
  return nullptr;
}

std::shared_ptr<shm::Segment> segment_of(const ProcessGroupOptions& options,
                                         Clock::time_point deadline) {
  const std::string name = shm::Segment::name_of(options.job_name);
  const shm::SegmentOptions segment_options{options.world_size, options.arena_bytes};
  for (;;) {
    if (auto segment = make_or_find(name, segment_options)) return segment;
    if (Clock::now() > deadline) {
      throw Timeout("rank " + std::to_string(options.rank) + " waited for /dev/shm/" + name +
                    " to be made, in vain; remove the file if no job is using it");
    }
    std::this_thread::sleep_for(kPollInterval);
  }
}

int attached_count(const shm::Segment& segment) {
  // Acquire: pairs with the release in Job's constructor; the places of those counted are taken.
  return static_cast<int>(segment.header().attached_count.load(std::memory_order_acquire));
}

std::string missing_ranks(const shm::Segment& segment) {
  Contributors missing;
  for (int rank = 0; rank < segment.world_size(); ++rank) {
    if (sync::vitality(segment.rank_block(rank).life) == sync::Vitality::absent) {
      missing.insert(rank);
    }
  }
  return to_string(missing);
}

// A rank that came and has gone again will be missed for ever.
void check_nobody_has_gone(const shm::Segment& segment) {
  for (int rank = 0; rank < segment.world_size(); ++rank) {
    const shm::Life& life = segment.rank_block(rank).life;
    if (sync::vitality(life) != sync::Vitality::vanished) continue;
    const sync::EndOfLife end = sync::end_of(life);
    throw PeerFailure(rank, end.cause,
                      "rank " + std::to_string(rank) + " (" + sync::process_label(life) + ") " +
                          end.text + " before all ranks of the job had started");
  }
}

void wait_for_everyone(const shm::Segment& segment, const ProcessGroupOptions& options,
                       Clock::time_point deadline) {
  while (attached_count(segment) < options.world_size) {
    check_nobody_has_gone(segment);
    if (Clock::now() > deadline) {
      throw Timeout("rank " + std::to_string(options.rank) + " of job '" + options.job_name +
                    "' waited " + std::to_string(options.timeout.count()) + " ms for " +
                    missing_ranks(segment) + " to start; start all " +
                    std::to_string(options.world_size) +
                    " ranks, with the same job name, or raise the timeout");
    }
    std::this_thread::sleep_for(kPollInterval);
  }
}

// The name goes when all have attached, and also when that can't happen any more.
class NameRemoval {
 public:
  explicit NameRemoval(shm::Segment& segment) : segment_(segment) {}
  ~NameRemoval() { segment_.unlink_name(); }
  NameRemoval(const NameRemoval&) = delete;
  NameRemoval& operator=(const NameRemoval&) = delete;

 private:
  shm::Segment& segment_;
};

}  // namespace

ProcessGroup init_process_group(ProcessGroupOptions options) {
  check_options(options);
  const Clock::time_point deadline = Clock::now() + options.timeout;
  const std::shared_ptr<shm::Segment> segment = segment_of(options, deadline);
  ProcessGroup group = attach_rank(segment, options.rank, options.timeout);
  const NameRemoval removal(*segment);
  wait_for_everyone(*segment, options, deadline);
  return group;
}

}  // namespace tensorplay::distributed
