#include "lib/distributed/job.h"

#include "lib/distributed/group_engine.h"
#include "lib/sync/activity.h"
#include "lib/sync/liveness.h"
#include "lib/sync/usable_cpus.h"

#include <tensorplay/error.h>

#include <pthread.h>
#include <algorithm>
#include <exception>
#include <string>

namespace tensorplay::distributed {
namespace {

// Counts the forks between this process and the one that started the program.
unsigned fork_generation = 0;

void watch_forks() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { ++fork_generation; });
  static_cast<void>(registered);
}

shm::Life& life_of(const shm::Segment& segment, int world_rank) {
  return segment.rank_block(world_rank).life;
}

}  // namespace

Job::Job(std::shared_ptr<shm::Segment> segment, int world_rank, std::chrono::milliseconds timeout)
    : segment_(std::move(segment)),
      world_rank_(world_rank),
      timeout_(timeout),
      arena_(segment_, world_rank),
      activity_(segment_->rank_block(world_rank).activity) {
  watch_forks();
  fork_generation_ = fork_generation;
  shm::Life& life = life_of(*segment_, world_rank);
  if (!sync::claim_life(*segment_, world_rank)) {
    throw SegmentError("rank " + std::to_string(world_rank) + " is taken already (" +
                       sync::process_label(life) +
                       "): two processes have the same RANK, or an earlier job of this name is "
                       "still running; start every rank once, or choose another job name");
  }
  last_words_.emplace(life, [this] { return fall_silent(); });
  arena_.set_reclaim([this] { return reclaim(); });
  sync::publish_user_code(activity_);
  sync::publish_usable_cpus(segment_->header());
  // Release: pairs with the acquire in all_attached() of the rendezvous; this rank's place is
  // taken.
  segment_->header().attached_count.fetch_add(1, std::memory_order_release);
}

Job::~Job() {
  last_words_.reset();
  if (is_forked_copy()) return;
  const auto state = std::uncaught_exceptions() > 0 ? shm::LifeState::raised : shm::LifeState::left;
  // Of a rank that is given up by another thread than used it: see release_life(). And of one that
  // exits: it keeps its place until its process ends. Never destroyed: that would unmap too early.
  static auto& kept_mapped = *new std::vector<std::shared_ptr<shm::Segment>>;
  if (is_silent() || !sync::release_life(*segment_, world_rank_, state)) {
    kept_mapped.push_back(std::move(segment_));
  }
}

void Job::remove(GroupEngine& group) noexcept {
  groups_.erase(std::remove(groups_.begin(), groups_.end(), &group), groups_.end());
}

void Job::progress() {
  for (GroupEngine* group : groups_) group->progress();
}

bool Job::others_busy(const GroupEngine& group) const noexcept {
  return std::any_of(groups_.begin(), groups_.end(), [&group](const GroupEngine* other) {
    return other != &group && other->busy();
  });
}

bool Job::has_cpus_for(int rank_count) noexcept {
  if (usable_cpus_ != 0) return rank_count <= usable_cpus_;
  const shm::SegmentHeader& header = segment_->header();
  // Acquire: pairs with the release of each rank that has attached; its CPUs are counted below.
  const std::uint32_t attached = header.attached_count.load(std::memory_order_acquire);
  const int cpus = sync::usable_cpus(header);
  if (attached >= header.world_size) usable_cpus_ = cpus;
  return rank_count <= cpus;
}

bool Job::any_group_failed() const noexcept {
  return std::any_of(groups_.begin(), groups_.end(),
                     [](const GroupEngine* group) { return group->failed(); });
}

bool Job::reclaim() noexcept {
  bool reclaimed = false;
  for (GroupEngine* group : groups_) reclaimed = group->discard_free_vaults() || reclaimed;
  return reclaimed;
}

bool Job::in_use(std::span<const std::byte> memory) const noexcept {
  return std::any_of(groups_.begin(), groups_.end(),
                     [memory](const GroupEngine* group) { return group->uses(memory); });
}

bool Job::is_forked_copy() const noexcept {
  return fork_generation_ != fork_generation;
}

bool Job::is_silent() const noexcept {
  // Relaxed: other threads can't be in a call, and whoever isn't is told by the guard.
  return is_forked_copy() || exiting_.load(std::memory_order_relaxed);
}

// Called while the process ends. Takes the guard and keeps it, so that no thread can enter a call
// any more; a call that this thread itself is in, below the exit(), never goes on. Either way the
// rank posts nothing after this, not even what is queued, and its words stay as they are.
bool Job::fall_silent() noexcept {
  // Acquire: pairs with UseGuard's release, so that what other threads have published is behind us.
  const bool busy = busy_.exchange(true, std::memory_order_acquire);
  // Relaxed: as in UseGuard.
  if (busy && user_.load(std::memory_order_relaxed) != std::this_thread::get_id()) return false;
  // Relaxed: this thread's own calls see it; those of others find the job busy.
  exiting_.store(true, std::memory_order_relaxed);
  return true;
}

UseGuard::UseGuard(Job& job) : job_(job) {
  if (job.is_forked_copy()) {
    throw InvalidArgument(
        "a process group can't be used after fork(): the child isn't a rank; start ranks with "
        "multiprocessing::spawn or tprun");
  }
  // Acquire: pairs with the release below, so that a group may be handed from thread to thread.
  const bool busy = job.busy_.exchange(true, std::memory_order_acquire);
  if (busy && job.is_silent()) {
    throw InvalidArgument(
        "a process group can't be used any more once its process exits: the other ranks go on "
        "without this one; call collectives before exit(), or before main() returns");
  }
  // Relaxed, both: the id is this thread's only while this thread holds the guard, see below.
  nested_ = busy && job.user_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  if (!busy) job.user_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  if (busy && !nested_) {
    throw InvalidArgument("two threads use the process groups of rank " +
                          std::to_string(job.world_rank()) +
                          " at once: one thread at a time, please");
  }
  if (!busy) sync::keep_life(life_of(*job.segment_, job.world_rank_));
}

UseGuard::~UseGuard() {
  if (nested_) return;
  // Relaxed: whoever holds the guard next stores its own id.
  job_.user_.store(std::thread::id{}, std::memory_order_relaxed);
  // Release: pairs with the acquire above.
  job_.busy_.store(false, std::memory_order_release);
}

}  // namespace tensorplay::distributed
