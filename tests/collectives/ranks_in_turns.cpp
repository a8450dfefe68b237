#include "tests/collectives/ranks_in_turns.h"

#include <thread>

namespace tensorplay::conformance {

RanksInTurns::RanksInTurns(int rank_count, std::uint64_t seed) : draws_(seed) {
  for (int rank = 0; rank < rank_count; ++rank) {
    turns_.push_back(std::make_unique<Turn>());
    turns_.back()->weight = 1 + draws_.below(3) * 10;
  }
}

void RanksInTurns::run(const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < static_cast<int>(turns_.size()); ++rank) {
    threads.emplace_back([this, rank, &body] {
      turn(rank).semaphore.acquire();
      try {
        body(rank);
      } catch (const Stopped&) {
        // Told by is_stopped() until now.
      }
      turn(rank).state = State::ended;
      give_away();
    });
  }
  give_away();
  for (std::thread& thread : threads) thread.join();
}

void RanksInTurns::pass(int rank) {
  ++passes_;
  const int next = choose();
  if (next == rank) return;
  turn(next).semaphore.release();
  turn(rank).semaphore.acquire();
}

void RanksInTurns::stop(int rank) {
  turn(rank).state = State::stopped;
  give_away();
  turn(rank).semaphore.acquire();
  throw Stopped();
}

void RanksInTurns::give_away() {
  if (const int next = choose(); next >= 0) turn(next).semaphore.release();
}

int RanksInTurns::choose() {
  const int runnable = any(State::runnable);
  return runnable >= 0 ? runnable : any(State::stopped);
}

int RanksInTurns::any(State wanted) {
  std::size_t all = 0;
  for (const auto& turn : turns_) all += turn->state == wanted ? turn->weight : 0;
  if (all == 0) return -1;
  std::size_t at = draws_.below(all);
  int rank = 0;
  for (const auto& turn : turns_) {
    const std::size_t weight = turn->state == wanted ? turn->weight : 0;
    if (at < weight) break;
    at -= weight;
    ++rank;
  }
  return rank;
}

}  // namespace tensorplay::conformance
