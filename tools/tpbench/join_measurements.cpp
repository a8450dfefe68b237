#include "tools/tpbench/join_measurements.h"

#include "tools/tpbench/forked_ranks.h"

#include <tensorplay/distributed/algorithms/join.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <utility>

namespace tensorplay::tpbench {
namespace {

using distributed::ProcessGroup;
using distributed::algorithms::Join;
using distributed::algorithms::Joinable;
using distributed::algorithms::JoinHook;
using distributed::algorithms::JoinKwargs;
using distributed::algorithms::JoinOptions;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

constexpr int kSamples = 20;

// Ranks that join early on purpose need no warning.
JoinOptions quiet(bool throws = false) {
  JoinOptions options;
  options.throw_on_early_termination = throws;
  options.skew_warning_threshold = std::numeric_limits<std::int64_t>::max();
  return options;
}

// A hook that shadows one call.
class ShadowHook : public JoinHook {
 public:
  explicit ShadowHook(std::function<void()> shadow) : shadow_(std::move(shadow)) {}
  void main_hook() override { shadow_(); }

 private:
  std::function<void()> shadow_;
};

// One all_reduce per use.
class Reducer : public Joinable {
 public:
  Reducer(const ProcessGroup& group, std::size_t count, Joined joined = Joined::asleep)
      : group_(group), values_(count), joined_(joined) {}

  void notify() { Join::notify_join_context(*this); }
  void use() {
    notify();
    reduce();
  }

  std::unique_ptr<JoinHook> join_hook(const JoinKwargs&) override {
    if (joined_ == Joined::asleep) return std::make_unique<JoinHook>();
    return std::make_unique<ShadowHook>([this] { reduce(); });
  }
  ProcessGroup& join_process_group() override { return group_; }

 private:
  // New values each time, as in tpbench's own loop.
  void reduce() {
    std::ranges::fill(values_, ++turn_);
    group_.all_reduce(std::span(values_));
  }

  ProcessGroup group_;
  std::vector<float> values_;
  Joined joined_;
  float turn_ = 0;
};

// `count` of something, in kSamples equal parts.
void time_parts(RigRank& rank, int count, const std::function<void()>& one) {
  const int part = std::max(1, count / kSamples);
  for (int i = 0; i < kSamples; ++i) {
    const auto begin = Clock::now();
    for (int k = 0; k < part; ++k) one();
    rank.note(seconds_since(begin) / part);
  }
}

}  // namespace

std::vector<double> time_notifications(int ranks, const JoinEffort& effort) {
  return measure_ranks(ranks, [&](ProcessGroup& group, RigRank& rank) {
    Reducer reducer(group, 1);
    Join join({reducer}, quiet());
    reducer.notify();
    rank.meet();
    const int part = std::max(1, effort.notifications / kSamples);
    for (int i = 0; i < kSamples; ++i) {
      // Not through a function object: it would cost as much as what is measured.
      const auto begin = Clock::now();
      for (int k = 0; k < part; ++k) Join::notify_join_context(reducer);
      rank.note(seconds_since(begin) / part);
    }
  });
}

std::vector<double> time_agreeing_notifications(int ranks, const JoinEffort& effort) {
  return measure_ranks(ranks, [&](ProcessGroup& group, RigRank& rank) {
    Reducer reducer(group, 1);
    Join join({reducer}, quiet(true));
    reducer.notify();
    rank.meet();
    time_parts(rank, effort.iterations, [&] { reducer.notify(); });
  });
}

std::vector<double> time_joining(int ranks, const JoinEffort& effort) {
  return measure_ranks(ranks, [&](ProcessGroup& group, RigRank& rank) {
    Reducer reducer(group, 1);
    const int contexts = std::max(kSamples, effort.iterations / 10);
    for (int i = 0; i < contexts; ++i) {
      Join join({reducer}, quiet());
      reducer.use();
      rank.meet();
      const auto begin = Clock::now();
      join.finish();
      rank.note(seconds_since(begin));
    }
  });
}

std::vector<double> time_iterations(int ranks, Joined joined, const JoinEffort& effort) {
  return measure_ranks(ranks, [&](ProcessGroup& group, RigRank& rank) {
    Reducer reducer(group, 2, joined);
    Join join({reducer}, quiet());
    reducer.use();
    // The last rank has joined; the others wait until it's asleep.
    rank.meet();
    if (rank.rank() == ranks - 1) return;
    for (int i = 0; i < effort.iterations / 10; ++i) reducer.use();
    time_parts(rank, effort.iterations, [&] { reducer.use(); });
  });
}

std::vector<double> time_active_ranks(int active, int joined, std::size_t bytes,
                                      const JoinEffort& effort) {
  return measure_ranks(active + joined, [&](ProcessGroup& group, RigRank& rank) {
    if (rank.rank() < active) bind_to(rank.memory().cpus, rank.rank());
    Reducer reducer(group, std::max<std::size_t>(1, bytes / sizeof(float)));
    Join join({reducer}, quiet());
    reducer.use();
    rank.meet();
    if (rank.rank() >= active) return;
    // At least the first of these waits until the others sleep.
    for (int i = 0; i < effort.iterations / 10 + 1; ++i) reducer.use();
    time_parts(rank, effort.iterations, [&] { reducer.use(); });
  });
}

}  // namespace tensorplay::tpbench
