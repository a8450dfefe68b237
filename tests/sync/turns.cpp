#include "tests/sync/turns.h"

#include "lib/sync/doorbell.h"
#include "lib/sync/progress.h"
#include "lib/sync/waiter.h"

#include <chrono>
#include <random>
#include <thread>

namespace tensorplay::sync {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kSlice{20};  // no turn takes so long, however busy the machine is
constexpr std::chrono::seconds kLost{18};

// The rank before has got to a turn.
class Turn : public Condition {
 public:
  Turn(std::atomic<std::uint64_t>& word, std::uint64_t value, int world_rank)
      : word_(word), value_(value), world_rank_(world_rank) {}
  bool poll() override { return observe_progress(word_, value_); }
  void check(Clock::time_point) override {}
  std::uint32_t sleeping_for() const override {
    return static_cast<std::uint32_t>(world_rank_) + 1;
  }
  std::chrono::nanoseconds slice() const override { return kSlice; }

 private:
  std::atomic<std::uint64_t>& word_;
  std::uint64_t value_;
  int world_rank_;
};

void sleep_until(const shm::Segment& segment, int rank, Turn& turn) {
  while (!turn.poll()) {
    Sleep sleep(segment, rank, turn.sleeping_for());
    if (turn.poll()) return;
    sleep.sleep(kSlice);
  }
}

}  // namespace

std::string take_turns(const shm::Segment& segment, int rank, const TurnsOptions& options) {
  const auto word = [&](int of) -> std::atomic<std::uint64_t>& {
    return segment.member_block(0, of).progress.staged;
  };
  const int before = (rank + options.rank_count - 1) % options.rank_count;
  std::minstd_rand random(static_cast<unsigned>(options.seed) + static_cast<unsigned>(rank));
  const Waiter waiter(segment, rank);
  for (std::uint64_t round = 1; round <= options.rounds; ++round) {
    // The first rank begins each round; everyone else follows within it.
    Turn turn(word(before), rank == 0 ? round - 1 : round, before);
    const auto start = Clock::now();
    if (options.naked_sleeps) {
      sleep_until(segment, rank, turn);
    } else {
      waiter.wait(turn, options.competitors);
    }
    if (Clock::now() - start >= kLost) {
      return "rank " + std::to_string(rank) + " wasn't woken in round " + std::to_string(round);
    }
    if (options.delay_every != 0 && random() % options.delay_every == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    }
    publish_progress(word(rank), round);
    ring_for(segment, rank);
  }
  return "";
}

}  // namespace tensorplay::sync
