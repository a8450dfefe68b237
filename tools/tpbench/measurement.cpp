#include "tools/tpbench/measurement.h"

#include "tools/tpbench/pattern.h"

#include <tensorplay/error.h>

#include <algorithm>
#include <chrono>
#include <string>

namespace tensorplay::tpbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBatchMax = 1000;
constexpr double kBatchSeconds = 200e-6;
constexpr std::size_t kSamplesMin = 5;
constexpr int kWarmUps = 4, kWarmUpsLarge = 2;
constexpr std::size_t kLargeBytes = std::size_t{4} << 20;
constexpr std::size_t kProbes = 64;  // elements that are looked at after the timed part

double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

class Measurement {
 public:
  Measurement(RigRank& rank, const Order& order, const Subject& subject)
      : rank_(rank), order_(order), point_(order.point), subject_(subject) {}

  void run() {
    if (order_.verify && subject_.has_result) verify();
    const Plan plan = rank_.agree(plan_for(order_, warm_up()));
    for (std::size_t i = 0; i < plan.samples; ++i) {
      if (!is_batched(order_)) {
        time_one();
      } else if (order_.oversubscribed) {
        time_each(plan.batch);
      } else {
        time_batch(plan.batch);
      }
    }
    // All have come to the end: what a root has sent, and others took later, is there.
    rank_.meet();
    if (subject_.has_result) check_last(kProbes);
  }

 private:
  void verify() {
    turn_.is_varied = true;
    refill();
    rank_.meet();
    subject_.run();
    check_last(SIZE_MAX);
    turn_.is_varied = false;
    rank_.meet();
  }

  void refill() {
    ++turn_.number;
    for (const Subject::Buffers& buffers : subject_.buffers) {
      fill(point_, rank_.rank(), turn_, buffers.source);
    }
  }

  void check_last(std::size_t probes) const {
    for (const Subject::Buffers& buffers : subject_.buffers) {
      const std::string wrong = check(point_, rank_.rank(), turn_, buffers.destination, probes);
      if (!wrong.empty()) throw Error("wrong result of " + to_string(point_) + ": " + wrong);
    }
  }

  // Gives the seconds of an operation, about: the least, since others may use the CPUs, too.
  double warm_up() {
    double seconds = timed_one();
    const int count = point_.whole_bytes() >= kLargeBytes ? kWarmUpsLarge : kWarmUps;
    for (int i = 1; i < count; ++i) seconds = std::min(seconds, timed_one());
    return seconds;
  }

  double timed_one() {
    refill();
    rank_.meet();
    const auto begin = Clock::now();
    subject_.run();
    return seconds_between(begin, Clock::now()) / operations();
  }

  double operations() const { return static_cast<double>(subject_.buffers.size()); }
  void time_one() { rank_.note(timed_one()); }

  void time_batch(std::size_t batch) {
    rank_.meet();
    const auto begin = Clock::now();
    for (std::size_t i = 0; i < batch; ++i) {
      refill();
      subject_.run();
    }
    rank_.note(seconds_between(begin, Clock::now()) / static_cast<double>(batch) / operations());
  }

  void time_each(std::size_t batch) {
    rank_.meet();
    auto begin = Clock::now();
    for (std::size_t i = 0; i < batch; ++i) {
      refill();
      subject_.run();
      const auto end = Clock::now();
      rank_.note(seconds_between(begin, end) / operations());
      begin = end;
    }
  }

  RigRank& rank_;
  const Order& order_;
  const Point& point_;
  const Subject& subject_;
  Turn turn_;
};

}  // namespace

bool is_batched(const Order& order) noexcept {
  if (order.point.whole_bytes() > kBatchedBytes) return false;
  return order.start == Start::back_to_back ||
         (order.start == Start::automatic && !order.point.is_rooted());
}

Plan plan_for(const Order& order, double seconds) noexcept {
  const bool batched = is_batched(order);
  const double one = std::max(seconds, 20e-9);
  Plan plan;
  if (batched) {
    plan.batch = static_cast<std::size_t>(
        std::clamp(kBatchSeconds / one, 1.0, static_cast<double>(kBatchMax)));
  }
  const double whole =
      one * static_cast<double>(plan.batch) * static_cast<double>(order.point.buffer_sets());
  // Where operations are timed one by one, a batch is as many samples.
  const std::size_t most = batched && order.oversubscribed ? kSamplesMax / plan.batch : kSamplesMax;
  plan.samples = order.samples != 0
                     ? order.samples
                     : static_cast<std::size_t>(std::clamp(order.budget_s / whole, 1.0, 1e6));
  plan.samples = std::clamp(plan.samples, order.samples != 0 ? 1 : kSamplesMin, most);
  return plan;
}

void measure(RigRank& rank, const Order& order, const Subject& subject) {
  Measurement(rank, order, subject).run();
}

}  // namespace tensorplay::tpbench
