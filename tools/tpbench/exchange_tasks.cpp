#include "tools/tpbench/exchange_tasks.h"

#include "lib/sync/futex.h"
#include "tools/tpbench/streaming_store.h"

#include <sched.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

namespace tensorplay::tpbench {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kRounds = 200;  // of a small thing, between two looks at the clock
constexpr int kLooks = 20000;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// The words by which the two ranks take turns: each writes its own.
class Turns {
 public:
  Turns(RigRank& rank, bool yields)
      : own_(rank.memory().rank[static_cast<std::size_t>(rank.rank())].ball.word),
        other_(rank.memory().rank[static_cast<std::size_t>(1 - rank.rank())].ball.word),
        next_(own_.load()),
        yields_(yields) {}

  void give() {
    // Release: the buffer that was written before goes with the word.
    own_.store(++next_, std::memory_order_release);
  }
  // Until the other one has given as often as this one, plus `more`.
  void take(std::uint64_t more) const {
    // Acquire: goes with give() of the other one.
    for (int i = 0; other_.load(std::memory_order_acquire) < next_ + more; ++i) {
      if (yields_ || i > kLooks) ::sched_yield();
    }
  }

 private:
  std::atomic<std::uint64_t>& own_;
  std::atomic<std::uint64_t>& other_;
  std::uint64_t next_;
  bool yields_;
};

// Round after round until the time is over, by rank 0's clock; each sample is one way, of `rounds`.
void play(RigRank& rank, const Order& order, std::size_t rounds, const std::function<void()>& lead,
          const std::function<void()>& follow) {
  rank.meet();
  const std::function<void()> nothing = [] {};
  const auto& act = rank.rank() == 0 ? lead : rank.rank() == 1 ? follow : nothing;
  const auto estimate = [&] {
    const auto begin = Clock::now();
    for (std::size_t i = 0; i < rounds; ++i) act();
    return seconds_since(begin);
  };
  estimate();
  const double fit = std::clamp(order.budget_s / std::max(estimate(), 1e-9), 3.0, 1000.0);
  const std::size_t samples =
      rank.agree({.samples = order.samples != 0 ? order.samples : static_cast<std::size_t>(fit)})
          .samples;
  for (std::size_t i = 0; i < samples; ++i) {
    const double seconds = estimate();
    if (rank.rank() == 0) rank.note(seconds / static_cast<double>(rounds) / 2);
  }
  rank.meet();
}

void play_turns(RigRank& rank, const Order& order, bool yields) {
  if (rank.rank() > 1) return play(rank, order, kRounds, {}, {});
  Turns turns(rank, yields);
  play(
      rank, order, kRounds,
      [&] {
        turns.give();
        turns.take(0);
      },
      [&] {
        turns.take(1);
        turns.give();
      });
}

// Reads all of it, as fast as that goes.
std::uint64_t read_all(std::span<const std::byte> bytes) {
  std::uint64_t sums[4] = {};
  std::size_t at = 0;
  for (; at + sizeof(sums) <= bytes.size(); at += sizeof(sums)) {
    std::uint64_t words[4];
    std::memcpy(words, bytes.data() + at, sizeof(words));
    for (int i = 0; i < 4; ++i) sums[i] ^= words[i];
  }
  for (; at < bytes.size(); ++at) sums[0] ^= static_cast<std::uint64_t>(bytes[at]);
  return sums[0] ^ sums[1] ^ sums[2] ^ sums[3];
}

void put(const multiprocessing::Pipe& pipe) {
  const char byte = 0;
  while (::write(pipe.write_end.get(), &byte, 1) != 1) continue;
}

void get(const multiprocessing::Pipe& pipe) {
  char byte;
  while (::read(pipe.read_end.get(), &byte, 1) != 1) continue;
}

}  // namespace

void pass_line(RigRank& rank, const Order& order) {
  // With a single CPU the other one has to get it.
  const bool yields = count_of(rank.memory().cpus) < 2;
  bind_to(rank.memory().cpus, rank.rank());
  play_turns(rank, order, yields);
}

void switch_by_yield(RigRank& rank, const Order& order) {
  bind_to(rank.memory().cpus, 0);
  play_turns(rank, order, true);
}

void switch_by_pipe(RigRank& rank, const Order& order, const Exchanged& exchanged) {
  bind_to(rank.memory().cpus, 0);
  play(
      rank, order, kRounds,
      [&] {
        put(exchanged.pipes[1]);
        get(exchanged.pipes[0]);
      },
      [&] {
        get(exchanged.pipes[1]);
        put(exchanged.pipes[0]);
      });
}

void wake_by_futex(RigRank& rank, const Order& order) {
  bind_to(rank.memory().cpus, rank.rank());
  auto& bell = rank.memory().bell;
  auto& rung_at = rank.memory().rung_at;
  const std::size_t samples = order.samples != 0 ? order.samples : 20;
  for (std::size_t i = 0; i < samples; ++i) {
    const std::uint32_t before = bell.load();
    rank.meet();
    if (rank.rank() == 0) {
      // Long enough for the other one to fall asleep.
      const auto begin = Clock::now();
      while (Clock::now() - begin < 100us) relax();
      rung_at.store(Clock::now().time_since_epoch().count());
      bell.store(before + 1);
      sync::futex_wake_all(bell);
    } else if (rank.rank() == 1) {
      while (bell.load() == before) sync::futex_wait(bell, before, 1s);
      const auto now = Clock::now().time_since_epoch().count();
      rank.note(static_cast<double>(now - rung_at.load()) * 1e-9);
    }
    rank.meet();
  }
}

void hand_over(RigRank& rank, const Order& order, const Exchanged& exchanged) {
  if (order.bind) bind_to(rank.memory().cpus, rank.rank());
  const std::size_t bytes = order.point.bytes;
  if (rank.rank() > 1) return play(rank, order, 1, {}, {});
  const auto self = static_cast<std::size_t>(rank.rank());
  const std::span<std::byte> own = exchanged.buffers[self].first(bytes);
  const std::span<std::byte> others = exchanged.buffers[1 - self].first(bytes);
  Turns turns(rank, count_of(rank.memory().cpus) < 2);
  unsigned char value = 0;
  // The sums are kept, so that the reading isn't left out.
  volatile std::uint64_t sum = 0;
  const auto write = [&] {
    ++value;
    if (order.streaming) {
      stream_fill(own, value);
    } else {
      std::memset(own.data(), value, own.size());
    }
    turns.give();
  };
  const auto lead = [&] {
    write();
    turns.take(0);
    sum = sum ^ read_all(others);
  };
  const auto follow = [&] {
    turns.take(1);
    sum = sum ^ read_all(others);
    write();
  };
  play(rank, order, std::clamp<std::size_t>(kRounds * 64 / std::max<std::size_t>(bytes, 1), 1, 50),
       lead, follow);
}

}  // namespace tensorplay::tpbench
