#include "tests/faults/tally.h"

#include <algorithm>

namespace tensorplay::faults {
namespace {

std::string milliseconds(std::int64_t ns) {
  return std::to_string(ns / 1'000'000) + "." + std::to_string(ns / 100'000 % 10) + " ms";
}

}  // namespace

void Tally::add(const Trial& trial, const Verdict& verdict) {
  ++trials;
  for (const Fault& fault : trial.faults) {
    if (!fault.point.empty()) points.insert(fault.point);
  }
  for (const auto& [action, count] : verdict.struck_by_action) struck[action] += count;
  missed += static_cast<int>(trial.faults.size()) - verdict.struck;
  finished += verdict.finished;
  told += verdict.told;
  operations += verdict.operations;
  latencies_ns.insert(latencies_ns.end(), verdict.latencies_ns.begin(), verdict.latencies_ns.end());
}

std::string Tally::text() {
  std::string text = std::to_string(trials) + " jobs, faults:";
  for (const auto& [action, count] : struck) text += " " + std::to_string(count) + " " + action;
  text += " (" + std::to_string(missed) + " missed) at " + std::to_string(points.size()) +
          " points; survivors: " + std::to_string(finished) + " finished, " + std::to_string(told) +
          " were told; " + std::to_string(operations) + " results compared";
  if (latencies_ns.empty()) return text;
  std::ranges::sort(latencies_ns);
  return text + "; from fault to news: median " +
         milliseconds(latencies_ns[latencies_ns.size() / 2]) + ", 99 % " +
         milliseconds(latencies_ns[latencies_ns.size() * 99 / 100]) + ", most " +
         milliseconds(latencies_ns.back());
}

}  // namespace tensorplay::faults
