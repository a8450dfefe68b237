// Ranks as threads of which one runs at a time, in an order drawn from a seed: so that a rank can
// be left in the midst of a step, for ever if need be, and every order can be had again.
#pragma once

#include "tests/collectives/draws.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <semaphore>
#include <vector>

namespace tensorplay::conformance {

// Thrown through a rank that was stopped, when all others have ended.
struct Stopped {};

class RanksInTurns {
 public:
  // Some ranks have their turn more often than others, as the seed says.
  RanksInTurns(int rank_count, std::uint64_t seed);

  // Runs body(rank) on a thread per rank. Returns when all have returned or thrown Stopped.
  void run(const std::function<void(int)>& body);

  // Called by the rank that runs, itself: lets another one run, or goes on.
  void pass(int rank);
  // Lets the others run to their ends. Then throws Stopped.
  [[noreturn]] void stop(int rank);

  bool is_stopped(int rank) const { return state(rank) == State::stopped; }
  // How often pass() was called.
  std::uint64_t passes() const { return passes_; }

 private:
  enum class State { runnable, stopped, ended };
  struct Turn {
    State state = State::runnable;
    std::size_t weight = 1;
    std::binary_semaphore semaphore{0};
  };

  State state(int rank) const { return turns_[static_cast<std::size_t>(rank)]->state; }
  Turn& turn(int rank) { return *turns_[static_cast<std::size_t>(rank)]; }
  // Whose turn is next: a runnable rank, else one that was stopped; -1 if all have ended.
  int choose();
  int any(State wanted);
  void give_away();

  Draws draws_;
  std::vector<std::unique_ptr<Turn>> turns_;
  std::uint64_t passes_ = 0;
};

}  // namespace tensorplay::conformance
