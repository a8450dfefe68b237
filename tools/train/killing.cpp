#include "tools/train/killing.h"

#include "tools/train/seeded_random.h"

#include <fmt/core.h>
#include <unistd.h>
#include <algorithm>
#include <cassert>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <system_error>

namespace tensorplay::train {
namespace {

// How long the first epoch takes, as far as anybody knows.
constexpr std::chrono::milliseconds kFirstEpoch{50};

}  // namespace

std::vector<Killing> plan_killings(int count, int rank_count, int epoch_count, std::uint64_t seed) {
  assert(count >= 0 && count < rank_count && epoch_count > 0);
  constexpr std::size_t kSteps = 1'000'000;
  const auto ranks =
      shuffled(static_cast<std::size_t>(rank_count), SeededRandom(seed, Purpose::killed_ranks));
  SeededRandom moments(seed, Purpose::moments);
  std::vector<Killing> plan;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const std::size_t epoch = 1 + moments.below(static_cast<std::size_t>(epoch_count));
    const double moment = static_cast<double>(moments.below(kSteps)) / kSteps;
    plan.push_back({static_cast<int>(ranks[i]), static_cast<int>(epoch), moment});
  }
  return plan;
}

PlannedDeath::~PlannedDeath() {
  if (clock_) ::timer_delete(*clock_);
}

void PlannedDeath::epoch_begins(int epoch) {
  const auto now = std::chrono::steady_clock::now();
  const auto duration = epoch == 1 ? kFirstEpoch : now - epoch_begin_;
  epoch_begin_ = now;
  if (epoch != killing_.epoch) return;
  const auto delay =
      std::chrono::duration_cast<std::chrono::nanoseconds>(duration * killing_.moment);
  fmt::print(stderr,
             "train: rank {} (pid {}) gets SIGKILL {:.2f} ms into epoch {}, --kill-seed {}\n",
             killing_.rank, ::getpid(), static_cast<double>(delay.count()) / 1e6, epoch, seed_);
  start_clock(delay);
}

void PlannedDeath::start_clock(std::chrono::nanoseconds delay) {
  constexpr long kNanosecondsPerSecond = 1'000'000'000;
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGKILL;
  timer_t clock;
  if (::timer_create(CLOCK_MONOTONIC, &event, &clock) != 0) {
    throw std::system_error(errno, std::generic_category(), "timer_create");
  }
  clock_ = clock;
  const long ns = std::max(1L, delay.count());  // 0 would stop the clock
  const itimerspec when{{}, {ns / kNanosecondsPerSecond, ns % kNanosecondsPerSecond}};
  if (::timer_settime(clock, 0, &when, nullptr) != 0) {
    throw std::system_error(errno, std::generic_category(), "timer_settime");
  }
}

void PlannedDeath::wait() const {
  while (clock_) ::pause();
}

}  // namespace tensorplay::train
