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

using Entry = sync::BiasedLock::Entry;

}  // namespace

void Job::watch_forks() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] { ++current_fork_generation; });
  static_cast<void>(registered);
}

Job::Job(std::shared_ptr<shm::Segment> segment, int world_rank, std::chrono::milliseconds timeout)
    : segment_(std::move(segment)),
      world_rank_(world_rank),
      timeout_(timeout),
      arena_(segment_, world_rank),
      activity_(segment_->rank_block(world_rank).activity),
      life_(segment_->rank_block(world_rank).life),
      fork_generation_(current_fork_generation) {
  watch_forks();
  if (!sync::claim_life(*segment_, world_rank)) {
    throw SegmentError("rank " + std::to_string(world_rank) + " is taken already (" +
                       sync::process_label(life_) +
                       "): two processes have the same RANK, or an earlier job of this name is "
                       "still running; start every rank once, or choose another job name");
  }
  last_words_.emplace(life_, [this] { return fall_silent(); });
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

bool Job::is_silent() const noexcept {
  // Relaxed: other threads can't be in a call, and whoever isn't is told by the guard.
  return is_forked_copy() || exiting_.load(std::memory_order_relaxed);
}

// Called while the process ends. Takes the guard and keeps it, so that no thread can enter a call
// any more; a call that this thread itself is in, below the exit(), never goes on. Either way the
// rank posts nothing after this, not even what is queued, and its words stay as they are.
bool Job::fall_silent() noexcept {
  const Entry entry = in_use_.try_enter();
  if (entry != Entry::entered && entry != Entry::nested) return false;
  // Relaxed: this thread's own calls see it; those of others find the job in use.
  exiting_.store(true, std::memory_order_relaxed);
  return true;
}

void UseGuard::refuse() const {
  if (job_.is_forked_copy()) {
    throw InvalidArgument(
        "a process group can't be used after fork(): the child isn't a rank; start ranks with "
        "multiprocessing::spawn or tprun");
  }
  if (job_.is_silent()) {
    throw InvalidArgument(
        "a process group can't be used any more once its process exits: the other ranks go on "
        "without this one; call collectives before exit(), or before main() returns");
  }
  const std::string groups = "the process groups of rank " + std::to_string(job_.world_rank());
  if (entry_ == Entry::bound) {
    throw InvalidArgument(
        "this thread can't use " + groups +
        ", which another one has made: the system call membarrier(2) is refused, by a sandbox that "
        "the process entered since; use them from that thread, or allow the call");
  }
  throw InvalidArgument("two threads use " + groups + " at once: one thread at a time, please");
}

}  // namespace tensorplay::distributed
