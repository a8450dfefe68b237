// Starts the ranks of a job by fork.
#pragma once

#include <tensorplay/distributed/process_group.h>

#include <chrono>
#include <functional>

namespace tensorplay::multiprocessing {

struct SpawnOptions {
  // Behaviour.
  // The time-out of the group that each child gets: 1 ms to 10^10 ms.
  std::chrono::milliseconds timeout{std::chrono::minutes{5}};
  // Whether the ranks that are left go on when one of them dies. If they do, spawn() waits for them
  // however long they take, and succeeds if at least one rank has succeeded and no survivor failed.
  distributed::PeerFailurePolicy on_peer_failure = distributed::PeerFailurePolicy::raise;
  // How long the other ranks may take to end by themselves after the first failure, and again after
  // SIGTERM, before they are killed.
  std::chrono::milliseconds grace{std::chrono::seconds{2}};

  // Performance.
  std::size_t arena_bytes = std::size_t{1} << 30;  // as in ProcessGroupOptions
};

// A rank that was spawned failed: the first one to do so, with the text of its exception or the
// signal or exit code that ended it. `exit_code()` is what a shell would give: 128 + signal.
class SpawnFailure : public Error {
 public:
  SpawnFailure(int rank, int exit_code, const std::string& message)
      : Error(message), rank_(rank), exit_code_(exit_code) {}
  int rank() const noexcept { return rank_; }
  int exit_code() const noexcept { return exit_code_; }

 private:
  int rank_;
  int exit_code_;
};

// Forks `world_size` children, calls `body` in each with a ready group of all of them, and waits
// for all to end. The segment is anonymous memory: no name, nothing to clean up, whatever happens.
//
//     spawn(4, [](ProcessGroup& group) { train(group); });
//
// A child ends when `body` returns (exit code 0) or throws; it doesn't return into the caller's
// code and runs neither the caller's destructors nor its atexit handlers. When a rank fails the
// others are told at once through the group; those that don't end get SIGTERM, then SIGKILL; then
// SpawnFailure is thrown. Children die with the caller.
//
// Call it while the process has one thread: what other threads hold (locks, for one) stays held in
// the children.
//
// Throws InvalidArgument for a world size that isn't 1 ... kRankCountMax, or a time-out out of its
// range; SegmentError.
void spawn(int world_size, const std::function<void(distributed::ProcessGroup&)>& body,
           const SpawnOptions& options = {});

}  // namespace tensorplay::multiprocessing
