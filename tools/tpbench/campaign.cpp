#include "tools/tpbench/campaign.h"

#include "tools/tpbench/limit_job.h"
#include "tools/tpbench/own_job.h"
#include "tools/tpbench/peer_job.h"

#include <sched.h>
#include <algorithm>
#include <functional>

namespace tensorplay::tpbench {
namespace {

constexpr double kProbeSeconds = 0.004;
constexpr double kLimitSeconds = 0.02;
constexpr double kSwitchSeconds = 0.004;
constexpr int kSwitchLooks = 5;

std::size_t arena_bytes_for(std::size_t bytes_most) {
  // Source and destination of all calls in flight, and what the allocator rounds up.
  return std::max<std::size_t>(std::size_t{64} << 20, bytes_most * 2 * kCallsInFlight * 5 / 4);
}

}  // namespace

int usable_cpu_count() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  ::sched_getaffinity(0, sizeof(cpus), &cpus);
  return std::max(1, CPU_COUNT(&cpus));
}

Campaign::Campaign(int ranks, const CampaignSettings& settings)
    : settings_(settings),
      ranks_(ranks),
      cpus_(usable_cpu_count()),
      limits_(start_limit_job(ranks, std::max<std::size_t>(settings.bytes_most, 1))),
      ours_(start_own_job(ranks, arena_bytes_for(settings.bytes_most))) {
  for (const std::string& peer : settings.peers) {
    peers_.push_back(start_peer_job(peer, settings.peer_folder, ranks, cpus_));
  }
  measure_switches();
}

Order Campaign::order_of(const Point& point, bool verify) const {
  return {.task = Task::collective,
          .point = point,
          .budget_s = settings_.budget_s,
          .samples = settings_.samples,
          .start = settings_.start,
          .verify = verify,
          .bind = ranks_ <= cpus_,
          .oversubscribed = ranks_ > cpus_};
}

double Campaign::median_of_task(Task task, const Point& point, double budget_s, bool streaming) {
  Order order = order_of(point, false);
  order.task = task;
  order.budget_s = budget_s;
  order.streaming = streaming;
  return limits_->perform(order).median;
}

double Campaign::probe_line() {
  return median_of_task(Task::line, {}, kProbeSeconds);
}

// The least of a few short looks: others' load can only make them longer, and there is no partner
// to be compared with.
double Campaign::least_of_task(Task task) {
  double least = median_of_task(task, {}, kSwitchSeconds);
  for (int i = 1; i < kSwitchLooks; ++i) {
    least = std::min(least, median_of_task(task, {}, kSwitchSeconds));
  }
  return least;
}

void Campaign::measure_switches() {
  fixed_.yield_switch = least_of_task(Task::yield_switch);
  fixed_.pipe_switch = least_of_task(Task::pipe_switch);
  fixed_.futex_wake = least_of_task(Task::futex_wake);
}

// The better way to write what another core is going to read.
double Campaign::hand_over(const Point& point) {
  return std::min(median_of_task(Task::hand_over, point, kLimitSeconds / 2, false),
                  median_of_task(Task::hand_over, point, kLimitSeconds / 2, true));
}

void Campaign::measure_limits(const Point& point, std::vector<double>& copies,
                              std::vector<double>& hand_overs) {
  if (point.is_barrier()) return;
  Point whole = point;
  whole.bytes = point.whole_bytes();
  copies.push_back(median_of_task(Task::copy, whole, kLimitSeconds));
  hand_overs.push_back(hand_over(whole));
}

PointResult Campaign::measure(Point point, const std::vector<Memory>& memories) {
  point.ranks = ranks_;
  PointResult result{.point = point, .limits = fixed_, .usable_cpus = cpus_};
  std::vector<Entry> entries;
  for (const Memory memory : memories) {
    result.contestants.push_back({.name = name(memory), .is_ours = true});
    entries.push_back({ours_.get(), point});
    entries.back().point.memory = memory;
  }
  for (const auto& peer : peers_) {
    if (!can_measure(peer->name(), point)) continue;
    result.contestants.push_back({.name = peer->name()});
    entries.push_back({peer.get(), point});
  }
  run(entries, result);
  return result;
}

PointResult Campaign::compare_types(Point point, const std::vector<DType>& types) {
  point.ranks = ranks_;
  PointResult result{.point = point, .limits = fixed_, .usable_cpus = cpus_};
  std::vector<Entry> entries;
  for (const DType type : types) {
    result.contestants.push_back({.name = name(type), .is_ours = true});
    entries.push_back({ours_.get(), point});
    entries.back().point.dtype = type;
  }
  run(entries, result);
  return result;
}

void Campaign::run(const std::vector<Entry>& entries, PointResult& result) {
  bool verify = true;
  std::vector<std::function<Summary()>> contestants;
  for (const Entry& entry : entries) {
    contestants.push_back([&, this] { return entry.job->perform(order_of(entry.point, verify)); });
  }
  std::vector<double> lines, copies, hand_overs;
  for (int i = 0; i < settings_.repeats; ++i) {
    const Repeat repeat = take_repeat(
        contestants, [&] { return probe_line(); }, settings_.interleaving);
    verify = false;
    for (std::size_t c = 0; c < contestants.size(); ++c) {
      result.contestants[c].repeats.push_back(repeat.results[c]);
    }
    lines.push_back(median(repeat.probes));
    result.retakes += static_cast<std::size_t>(repeat.tries - 1);
    if (!repeat.is_steady) ++result.unsteady;
    measure_limits(result.point, copies, hand_overs);
  }
  result.limits.line = median(lines);
  if (!copies.empty()) result.limits.copy = median(copies);
  if (!hand_overs.empty()) result.limits.hand_over = median(hand_overs);
}

}  // namespace tensorplay::tpbench
