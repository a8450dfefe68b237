// How ranks that were started apart find each other: a segment under the job's name.
//
//   first rank to come     makes the segment, locked; takes its place; publishes
//   the others             find it; wait while it is locked; refuse what isn't theirs
//   every rank             takes its place, then waits until all places are taken
//   any rank               removes the name once all have attached (or nobody came in time)
#include "lib/base/fault_point.h"
#include "lib/distributed/attach.h"
#include "lib/distributed/group_engine.h"
#include "lib/distributed/job_name.h"
#include "lib/distributed/leftovers.h"
#include "lib/distributed/report.h"
#include "lib/distributed/whereabouts.h"
#include "lib/sync/activity.h"
#include "lib/sync/liveness.h"

#include <tensorplay/distributed/process_group.h>

#include <chrono>
#include <optional>
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
  check_timeout(options.timeout);
  check_job_name(options.job_name);
}

// Makes the job's segment; nothing if there is one. The maker is in its place before anybody else
// can see the segment, so a published segment without a living rank is a leftover.
std::optional<ProcessGroup> make_and_attach(const std::string& name,
                                            const shm::SegmentOptions& segment_options,
                                            const ProcessGroupOptions& options) {
  const auto segment = shm::Segment::create_named(name, segment_options);
  if (!segment) return std::nullopt;
  fault_point("rendezvous.made");
  try {
    remove_leftovers();
    fault_point("rendezvous.leftovers_removed");
    ProcessGroup group = attach_rank(segment, options.rank, options.timeout);
    fault_point("rendezvous.before_publish");
    segment->publish();
    fault_point("rendezvous.published");
    return group;
  } catch (...) {
    segment->unlink_name();
    throw;
  }
}

// Finds the job's segment; nothing if it isn't there yet, or was a leftover, which is removed.
std::optional<ProcessGroup> find_and_attach(const std::string& name,
                                            const shm::SegmentOptions& segment_options,
                                            const ProcessGroupOptions& options) {
  const auto segment = shm::Segment::open_named(name);
  if (!segment) return std::nullopt;
  if (is_leftover(*segment)) {
    segment->unlink_name();
    return std::nullopt;
  }
  segment->expect(segment_options);
  fault_point("rendezvous.found");
  return attach_rank(segment, options.rank, options.timeout);
}

ProcessGroup meet(const ProcessGroupOptions& options, Clock::time_point deadline) {
  const std::string name = shm::Segment::name_of(options.job_name);
  const shm::SegmentOptions segment_options{options.world_size, options.arena_bytes,
                                            options.on_peer_failure, options.launch,
                                            options.streaming_stores};
  for (;;) {
    if (auto group = make_and_attach(name, segment_options, options)) return *group;
    if (auto group = find_and_attach(name, segment_options, options)) return *group;
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

Contributors missing_ranks(const shm::Segment& segment) {
  Contributors missing;
  for (int rank = 0; rank < segment.world_size(); ++rank) {
    if (sync::vitality(segment, rank) == sync::Vitality::absent) missing.insert(rank);
  }
  return missing;
}

// A rank that came and died will be missed for ever: a failure of the group, so that all who wait
// say the same. (One that gave up waiting had the same reason to as this one will have: the ranks
// that don't come.)
void check_nobody_has_died(GroupEngine& engine) {
  const shm::Segment& segment = *engine.job().segment();
  engine.throw_if_failed();
  for (int rank = 0; rank < segment.world_size(); ++rank) {
    if (!sync::has_ended(sync::vitality(segment, rank))) continue;
    engine.fail(start_failure(engine.memory(), engine.membership(), rank));
    engine.throw_if_failed();
  }
}

void wait_for_everyone(GroupEngine& engine, const ProcessGroupOptions& options,
                       Clock::time_point deadline) {
  const shm::Segment& segment = *engine.job().segment();
  const sync::WaitingMark mark(segment.rank_block(options.rank).activity, {shm::Doing::start});
  for (;;) {
    segment.expect_whole();
    if (attached_count(segment) >= options.world_size) return;
    check_nobody_has_died(engine);
    if (Clock::now() > deadline) {
      const Contributors missing = missing_ranks(segment);
      Contributors others;
      for (int rank = 0; rank < options.world_size; ++rank) {
        if (rank != options.rank && !missing.contains(rank)) others.insert(rank);
      }
      throw Timeout(with_lines(
          "rank " + std::to_string(options.rank) + " of job '" + options.job_name + "' waited " +
              std::to_string(options.timeout.count()) + " ms for " + to_string(missing) +
              " to start; start all " + std::to_string(options.world_size) +
              " ranks, with the same job name, or raise the timeout",
          whereabouts(engine.memory(), engine.membership(), others), ""));
    }
    std::this_thread::sleep_for(kPollInterval);
  }
}

// The name goes when all have attached, and also when that can't happen any more.
class NameRemoval {
 public:
  explicit NameRemoval(shm::Segment& segment) : segment_(segment) {}
  // Another rank that is at the same has locked the file: the name has gone when the lock is free.
  // Should that rank have been stopped there, it isn't waited for.
  ~NameRemoval() {
    for (int i = 0; i < kTries && !segment_.unlink_name(); ++i) {
      std::this_thread::sleep_for(kPollInterval);
    }
  }
  NameRemoval(const NameRemoval&) = delete;
  NameRemoval& operator=(const NameRemoval&) = delete;

 private:
  static constexpr int kTries = 1000;
  shm::Segment& segment_;
};

}  // namespace

ProcessGroup init_process_group(ProcessGroupOptions options) {
  check_options(options);
  const Clock::time_point deadline = Clock::now() + options.timeout;
  ProcessGroup group = meet(options, deadline);
  fault_point("rendezvous.attached");
  const NameRemoval removal(*group.engine().job().segment());
  wait_for_everyone(group.engine(), options, deadline);
  fault_point("rendezvous.all_attached");
  return group;
}

}  // namespace tensorplay::distributed
