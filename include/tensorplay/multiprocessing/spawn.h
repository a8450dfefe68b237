// Starts the ranks of a job by fork.
#pragma once

#include <tensorplay/distributed/process_group.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tensorplay::multiprocessing {

struct SpawnOptions {
  // Behaviour.
  // The time-out of the group that each child gets: 1 ms to 10^10 ms.
  std::chrono::milliseconds timeout{std::chrono::minutes{5}};
  // Whether the ranks that are left go on when one of them dies: see spawn().
  distributed::PeerFailurePolicy on_peer_failure = distributed::PeerFailurePolicy::raise;
  // How long the other ranks may take to end by themselves after the first failure, and again after
  // SIGTERM, before they are killed. Under `raise` only.
  std::chrono::milliseconds grace{std::chrono::seconds{2}};
  // How long the ranks that are left may be stopped (SIGSTOP) without a break when all others have
  // ended, before they are killed. Under `continue_without` only.
  std::chrono::milliseconds stopped_grace{std::chrono::seconds{10}};

  // Performance.
  std::size_t arena_bytes = std::size_t{1} << 30;  // as in ProcessGroupOptions
  // Whether large results are written past the caches. If not given, the environment's
  // TENSORPLAY_STREAMING_STORES says it, "auto", "never" or "always"; without that, measurement.
  std::optional<distributed::StreamingStores> streaming_stores = std::nullopt;
};

// A rank that a signal has ended under `continue_without`.
struct LostRank {
  int rank;
  int pid;
  std::string how;  // "was ended by signal 9 (SIGKILL)"; with why if it was by spawn()
};

// What became of a job that has succeeded.
struct SpawnReport {
  std::vector<LostRank> lost;  // in the order in which their ends were noticed
};

// A rank that was spawned failed: the first one to do so, with the text of its exception or the
// signal or exit code that ended it. `exit_code()` is what a shell would give: 128 + signal.
// `lost()` is as in SpawnReport.
class SpawnFailure : public Error {
 public:
  SpawnFailure(int rank, int exit_code, const std::string& message, std::vector<LostRank> lost = {})
      : Error(message), rank_(rank), exit_code_(exit_code), lost_(std::move(lost)) {}
  int rank() const noexcept { return rank_; }
  int exit_code() const noexcept { return exit_code_; }
  const std::vector<LostRank>& lost() const noexcept { return lost_; }

 private:
  int rank_;
  int exit_code_;
  std::vector<LostRank> lost_;
};

// Forks `world_size` children, calls `body` in each with a ready group of all of them, and waits
// for all to end. The segment is anonymous memory: no name, nothing to clean up, whatever happens.
//
//     spawn(4, [](ProcessGroup& group) { train(group); });
//
// A child ends when `body` returns (exit code 0) or throws; it doesn't return into the caller's
// code and runs neither the caller's destructors nor its atexit handlers. Children die with the
// caller.
//
// Under `raise`: when a rank fails the others are told at once through the group; those that don't
// end get SIGTERM, then SIGKILL; then SpawnFailure is thrown.
//
// Under `continue_without`: a rank that ends doesn't end the others; spawn() waits for all, however
// long they run. A rank that a signal has ended is *lost*: whatever it was that killed it, the job
// goes on and its report names the rank. So is one that stays stopped when all others have ended:
// spawn() kills it after `stopped_grace`, and LostRank::how says so. A rank that a debugger holds
// isn't taken for stopped. A rank that ended by an exception or with an exit code other than 0 has
// *failed*: that is the program's own word, which is not to be overlooked. The others go on without
// it all the same, and when the last one has ended SpawnFailure tells the first failure. It is also
// thrown, with the first loss, if all ranks are lost. So a job succeeds if at least one rank has
// succeeded and none has failed.
//
// Call it while the process has one thread: what other threads hold (locks, for one) stays held in
// the children.
//
// Throws InvalidArgument for a world size that isn't 1 ... kRankCountMax, a time-out out of its
// range, or a TENSORPLAY_STREAMING_STORES that says nothing of the above; SegmentError.
SpawnReport spawn(int world_size, const std::function<void(distributed::ProcessGroup&)>& body,
                  const SpawnOptions& options = {});

}  // namespace tensorplay::multiprocessing
