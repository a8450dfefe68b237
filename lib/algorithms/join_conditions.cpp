#include "lib/algorithms/join_conditions.h"

#include <cstdio>

namespace tensorplay::distributed::algorithms {

using Clock = std::chrono::steady_clock;

BoardCondition::BoardCondition(const JoinBoard& board)
    : board_(board), signs_(board.signs_of_progress()), since_(Clock::now()) {}

bool BoardCondition::poll() {
  board_.engine().job().progress();
  return holds();
}

void BoardCondition::check(Clock::time_point now) {
  const std::uint64_t signs = board_.signs_of_progress();
  if (signs != signs_) {
    signs_ = signs;
    since_ = now;
  }
  AwaitedEvent event{description(), 0, since_, board_.timeout()};
  event.limit = "JoinOptions::timeout";
  board_.engine().check_awaited([this](int member) { return awaits(member); }, event, now);
}

std::chrono::nanoseconds BoardCondition::slice() const {
  return sync::slice_until(since_ + board_.timeout());
}

sync::Waiting BoardCondition::waiting(shm::Doing doing) const {
  return {doing, board_.engine().memory().slot(), {}, {}, board_.iterations()};
}

bool IterationReached::holds() {
  while (next_ < board().engine().size() && !awaits(next_)) ++next_;
  return next_ == board().engine().size();
}

bool IterationReached::awaits(int member) const {
  const sync::JoinBoardReading reading = board().read(member);
  return !reading.joined && reading.iterations < iteration_;
}

std::string IterationReached::description() const {
  return "in iteration " + std::to_string(iteration_) + " of the Join context";
}

sync::Waiting IterationReached::waiting_for() const {
  sync::Waiting waiting = BoardCondition::waiting(shm::Doing::iteration);
  waiting.number = iteration_;
  return waiting;
}

void AllJoined::check(Clock::time_point now) {
  BoardCondition::check(now);
  warn_of_skew();
}

// Only joins matter, unless another group of this rank has something to do.
std::uint32_t AllJoined::sleeping_for() const {
  return board().engine().job().others_busy(board().engine()) ? shm::kAnyRank : shm::kAllJoined;
}

bool AllJoined::holds() {
  while (next_ < board().engine().size() && !awaits(next_)) ++next_;
  return next_ == board().engine().size();
}

bool AllJoined::awaits(int member) const {
  return !board().read(member).joined;
}

std::string AllJoined::description() const {
  return "at the end of the Join context";
}

void AllJoined::warn_of_skew() {
  const auto own = static_cast<std::int64_t>(board().iterations());
  const auto most = static_cast<std::int64_t>(board().most_iterations_of_others());
  if (warned_ || most - own <= skew_warning_threshold_) return;
  warned_ = true;
  std::fprintf(stderr,
               "tensorplay: Detected uneven input skew of greater than %lld: rank %d has at least "
               "that many fewer inputs than ranks that are still active. Deal the inputs more "
               "evenly, or raise JoinOptions::skew_warning_threshold\n",
               static_cast<long long>(skew_warning_threshold_), board().engine().rank());
}

}  // namespace tensorplay::distributed::algorithms
