// The worlds in which every rank is a thread of this process.

#include "tests/worlds/world_runners.h"

#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <utility>

namespace tensorplay::worlds {
namespace {

using Clock = std::chrono::steady_clock;

// Who has ended: told by the ranks, awaited by the main thread.
class Attendance {
 public:
  explicit Attendance(std::size_t rank_count) : outcomes_(rank_count) {}

  void ended(std::size_t rank, std::string findings) {
    const std::lock_guard lock(mutex_);
    outcomes_[rank].reported = true;
    outcomes_[rank].findings = std::move(findings);
    outcomes_[rank].ended_after = Clock::now() - start_;
    ++ended_count_;
    changed_.notify_one();
  }

  // The outcomes when all have ended. Aborts the program if that takes too long: a thread can't be
  // ended from outside.
  std::vector<RankOutcome> await_all(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    const bool all =
        changed_.wait_for(lock, patience, [this] { return ended_count_ == outcomes_.size(); });
    if (!all) abort_with_names();
    return outcomes_;
  }

 private:
  [[noreturn]] void abort_with_names() const {
    for (std::size_t rank = 0; rank < outcomes_.size(); ++rank) {
      const RankOutcome& outcome = outcomes_[rank];
      std::fprintf(stderr, "watchdog: rank %zu %s%s\n", rank,
                   outcome.reported ? "ended: " : "hangs", outcome.findings.c_str());
    }
    std::fflush(stderr);
    std::abort();
  }

  const Clock::time_point start_ = Clock::now();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t ended_count_ = 0;
  std::vector<RankOutcome> outcomes_;
};

}  // namespace

WorldResult run_threads(World world, const std::shared_ptr<shm::Segment>& segment,
                        const RankBody& body, const WorldOptions& options) {
  const auto rank_count = static_cast<std::size_t>(segment->world_size());
  Attendance attendance(rank_count);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < rank_count; ++rank) {
    threads.emplace_back([&, rank] {
      std::shared_ptr<shm::Segment> mapping =
          world == World::threads_on_own_mappings ? segment->map_again() : segment;
      attendance.ended(rank,
                       live_as_rank(std::move(mapping), static_cast<int>(rank), body, options));
    });
  }
  WorldResult result{attendance.await_all(options.timeout + options.grace)};
  for (std::thread& thread : threads) thread.join();
  return result;
}

}  // namespace tensorplay::worlds
