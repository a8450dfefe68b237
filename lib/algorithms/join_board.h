// One context's board as a rank sees it: its own entries, and what the others tell.
#pragma once

#include "lib/base/fault_point.h"
#include "lib/distributed/group_engine.h"
#include "lib/sync/join_board.h"

#include <tensorplay/distributed/algorithms/join_report.h>

#include <chrono>
#include <cstdint>
#include <string>

namespace tensorplay::distributed::algorithms {

// A number that stands for a context's config in every arrival. Never 0, which means 'outside'.
std::uint32_t fingerprint_of(const std::string& config) noexcept;

// From entering to leaving. `config` is the text of all that must be the same on all ranks. The
// caller holds the group's UseGuard.
class JoinBoard {
 public:
  // Enters: tells the config, and that this rank is inside from now on.
  JoinBoard(GroupEngine& engine, std::string config, std::chrono::nanoseconds timeout);
  // Leaves, if leave() or resume() hasn't yet.
  ~JoinBoard();
  JoinBoard(const JoinBoard&) = delete;
  JoinBoard& operator=(const JoinBoard&) = delete;

  GroupEngine& engine() const noexcept { return engine_; }
  std::uint64_t iterations() const noexcept { return iterations_; }
  // How long this rank waits without a sign of progress.
  std::chrono::nanoseconds timeout() const noexcept { return timeout_; }

  // This rank begins its next iteration. One store.
  void announce() {
    fault_point("join.before_announced");
    engine_.announce(++iterations_);
    fault_point("join.announced");
  }
  // This rank has no more inputs. `in_step`: it goes on taking part, as a shadow.
  void join(bool in_step);
  // All have joined: everybody is present again from the same operation on. Leaves.
  void resume();
  // Ends this rank's part without the others.
  void leave() noexcept;

  // What `member` tells. Makes the group fail, and throws, if its context is another one. Throws
  // SegmentError if it tells of more iterations than there can have been.
  sync::JoinBoardReading read(int member) const;
  // Whether the member has joined by itself, as one that died before hasn't.
  bool has_run_out(int member) const noexcept;
  // The most iterations that anybody else has announced.
  std::uint64_t most_iterations_of_others() const;
  // How much has happened: grows whenever an active rank announces or posts something.
  std::uint64_t signs_of_progress() const;
  // The account of the context. Once all have joined, before resume().
  JoinReport report() const;

  // Waits until every other member has joined or announced iteration `iteration`.
  void wait_for_iteration(std::uint64_t iteration);
  // Waits until every other member has joined. Warns once if one of them is more than
  // `skew_warning_threshold` iterations ahead of this rank.
  void wait_for_all(std::int64_t skew_warning_threshold);

 private:
  shm::JoinBoard& own() const noexcept;
  shm::JoinBoard& of(int member) const noexcept;
  [[noreturn]] void fail_different() const;
  void check_iterations(int member, std::uint64_t iterations) const;
  std::uint64_t final_operation(int member) const;
  JoinReport::Death death_of(int member) const;

  GroupEngine& engine_;
  std::uint64_t generation_;
  std::chrono::nanoseconds timeout_;
  std::chrono::steady_clock::time_point began_;  // nobody has entered before
  std::uint64_t iterations_ = 0;
  mutable std::uint64_t iterations_max_ = 0;  // that were possible when somebody told of more
  bool left_ = false;
};

}  // namespace tensorplay::distributed::algorithms
