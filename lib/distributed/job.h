// This rank's place in its job: what all of its groups share.
#pragma once

#include "lib/distributed/arena.h"
#include "lib/shm/segment.h"
#include "lib/sync/biased_lock.h"
#include "lib/sync/last_words.h"
#include "lib/sync/liveness.h"
#include "lib/sync/waiter.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace tensorplay::distributed {

class GroupEngine;

// Takes the rank's place on construction, gives it up with the rank's last group. One per rank;
// used by one thread at a time, which UseGuard watches over.
class Job {
 public:
  // Throws SegmentError if the place is taken.
  Job(std::shared_ptr<shm::Segment> segment, int world_rank, std::chrono::milliseconds timeout);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  const std::shared_ptr<shm::Segment>& segment() const noexcept { return segment_; }
  int world_rank() const noexcept { return world_rank_; }
  std::chrono::milliseconds timeout() const noexcept { return timeout_; }
  Arena& arena() noexcept { return arena_; }
  // Before this rank had its place: so before any rank knew that all have attached.
  std::chrono::steady_clock::time_point began() const noexcept { return began_; }
  // This rank's words about what it is doing.
  shm::Activity& activity() noexcept { return activity_; }

  // The groups of this rank.
  void add(GroupEngine& group) { groups_.push_back(&group); }
  void remove(GroupEngine& group) noexcept;
  const std::vector<GroupEngine*>& groups() const noexcept { return groups_; }

  // Lets the operations of all groups advance.
  void progress();
  // Whether another group than `group` has operations under way.
  bool others_busy(const GroupEngine& group) const noexcept;

  void wait(sync::Condition& condition, int rank_count) const {
    sync::Waiter(*segment_, world_rank_).wait(condition, rank_count);
  }

  // Whether so many ranks can run at once: then it pays to poll. Cheap once all have attached.
  bool has_cpus_for(int rank_count) noexcept;

  bool any_group_failed() const noexcept;
  // Gives back what the groups keep of the arena without using it; whether there was anything.
  bool reclaim() noexcept;
  // Whether an operation of any group, not done yet, reads or writes there.
  bool in_use(std::span<const std::byte> memory) const noexcept;

  // Whether this process is a child, by fork, of the one that took the place.
  bool is_forked_copy() const noexcept { return fork_generation_ != current_fork_generation; }
  // Whether this process may not publish anything for the rank: such a child, or one that exits.
  bool is_silent() const noexcept;

 private:
  friend class UseGuard;

  // Counts the forks between this process and the one that started the program.
  static inline unsigned current_fork_generation = 0;

  static void watch_forks();
  bool fall_silent() noexcept;

  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::shared_ptr<shm::Segment> segment_;
  int world_rank_;
  std::chrono::milliseconds timeout_;
  Arena arena_;
  shm::Activity& activity_;
  shm::Life& life_;
  std::optional<sync::LastWords> last_words_;  // as long as this rank has the place
  std::vector<GroupEngine*> groups_;
  sync::BiasedLock in_use_;           // by the thread that is in a call
  std::atomic<bool> exiting_{false};  // the process ends: in use for good
  unsigned fork_generation_;
  int usable_cpus_ = 0;  // of the job; 0 until it's known for good
};

// Held during every public call: tells misuse by two threads, by a forked child, and in a process
// that is exiting. A call within a call, as a hook makes them, is fine.
class UseGuard {
 public:
  // Throws InvalidArgument.
  explicit UseGuard(Job& job) : job_(job) {
    if (!job.is_forked_copy()) [[likely]]
      entry_ = job.in_use_.try_enter();
    if (entry_ == sync::BiasedLock::Entry::entered) [[likely]] {
      sync::keep_life(job.life_);
    } else if (entry_ != sync::BiasedLock::Entry::nested || job.is_silent()) {
      refuse();
    }
  }
  ~UseGuard() {
    if (entry_ == sync::BiasedLock::Entry::entered) [[likely]]
      job_.in_use_.leave();
  }
  UseGuard(const UseGuard&) = delete;
  UseGuard& operator=(const UseGuard&) = delete;

 private:
  [[noreturn]] void refuse() const;

  Job& job_;
  sync::BiasedLock::Entry entry_ = sync::BiasedLock::Entry::busy;
};

}  // namespace tensorplay::distributed
