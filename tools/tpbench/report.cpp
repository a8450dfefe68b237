#include "tools/tpbench/report.h"

#include <fmt/core.h>
#include <sys/utsname.h>
#include <cmath>
#include <nlohmann/json.hpp>

namespace tensorplay::tpbench {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMicro = 1e6;

const ContestantResult* ours(const PointResult& result) {
  return result.contestants.empty() || !result.contestants.front().is_ours
             ? nullptr
             : &result.contestants.front();
}

Json to_object(const Summary& summary) {
  return {
      {"min", summary.min}, {"median", summary.median}, {"p99", summary.p99}, {"max", summary.max}};
}

Json to_object(const Limits& limits) {
  return {{"line", limits.line},
          {"copy", limits.copy},
          {"hand_over", limits.hand_over},
          {"yield_switch", limits.yield_switch},
          {"pipe_switch", limits.pipe_switch},
          {"futex_wake", limits.futex_wake}};
}

Json to_object(const PointResult& result, const ContestantResult& contestant) {
  Json object = {{"name", contestant.name},
                 {"is_ours", contestant.is_ours},
                 {"typical", to_object(contestant.typical())},
                 {"medians", contestant.medians()},
                 {"to_yardstick", contestant.typical().median / result.yardstick()}};
  const ContestantResult* best = result.best_peer();
  if (contestant.is_ours && best != nullptr) {
    object["best_peer"] = best->name;
    object["speedup"] = result.speedup(contestant, *best);
  }
  return object;
}

Json to_object(const PointResult& result) {
  const Point& point = result.point;
  Json object = {{"collective", name(point.kind)},
                 {"dtype", name(point.dtype)},
                 {"op", name(point.op)},
                 {"calls", name(point.calls)},
                 {"ranks", point.ranks},
                 {"bytes", point.whole_bytes()},
                 {"repeats", result.contestants.front().repeats.size()},
                 {"retakes", result.retakes},
                 {"unsteady", result.unsteady},
                 {"yardstick", result.yardstick()},
                 {"limits", to_object(result.limits)}};
  object["contestants"] = Json::array();
  for (const ContestantResult& contestant : result.contestants) {
    object["contestants"].push_back(to_object(result, contestant));
  }
  return object;
}

}  // namespace

std::string microseconds(double seconds) {
  const double value = seconds * kMicro;
  if (value <= 0) return "-";
  const int decimals =
      std::max(0, 3 - std::max(0, static_cast<int>(std::floor(std::log10(value)))));
  return fmt::format("{:.{}f}", value, decimals);
}

std::string limits_line(const Limits& limits) {
  return fmt::format(
      "limits, us: switch on one core {} (sched_yield), {} (pipe); futex wake to another core {}\n",
      microseconds(limits.yield_switch), microseconds(limits.pipe_switch),
      microseconds(limits.futex_wake));
}

std::string table_head(const PointResult& first) {
  std::string head =
      fmt::format("{:>10} {:>10} {:>10} {:>10} {:>10}", "bytes", "ours", "min", "p99", "max");
  head += fmt::format(" {:>9} {:>10} {:>10} {:>8} {:>8}", "line", "copy", "hand-over", "/line",
                      "/yard");
  for (const ContestantResult& contestant : first.contestants) {
    if (&contestant == ours(first)) continue;
    head += fmt::format(" {:>11}", contestant.name);
  }
  return head + fmt::format(" {:>7} {}\n", "faster", "retaken");
}

std::string table_row(const PointResult& result) {
  const ContestantResult* first = ours(result);
  if (first == nullptr) return "";
  const Summary typical = first->typical();
  std::string row =
      fmt::format("{:>10} {:>10} {:>10} {:>10} {:>10}",
                  result.point.is_barrier() ? "-" : bytes_text(result.point.whole_bytes()),
                  microseconds(typical.median), microseconds(typical.min),
                  microseconds(typical.p99), microseconds(typical.max));
  row += fmt::format(" {:>9} {:>10} {:>10} {:>8.1f} {:>8.2f}", microseconds(result.limits.line),
                     microseconds(result.limits.copy), microseconds(result.limits.hand_over),
                     typical.median / result.limits.line, typical.median / result.yardstick());
  for (const ContestantResult& contestant : result.contestants) {
    if (&contestant == first) continue;
    row += fmt::format(" {:>11}", microseconds(contestant.typical().median));
  }
  const ContestantResult* best = result.best_peer();
  row += best == nullptr ? fmt::format(" {:>7}", "-")
                         : fmt::format(" {:>6.2f}x", result.speedup(*first, *best));
  row += fmt::format(" {}", result.retakes);
  if (result.unsteady != 0) row += fmt::format(", {} unsteady", result.unsteady);
  return row + "\n";
}

std::string to_csv(std::span<const PointResult> results) {
  std::string csv =
      "collective,dtype,op,calls,ranks,bytes,contestant,median_us,min_us,p99_us,max_us,line_us,"
      "copy_us,hand_over_us,yardstick_us,speedup\n";
  for (const PointResult& result : results) {
    const Point& point = result.point;
    for (const ContestantResult& contestant : result.contestants) {
      const Summary typical = contestant.typical();
      csv +=
          fmt::format("{},{},{},{},{},{},{}", name(point.kind), name(point.dtype), name(point.op),
                      name(point.calls), point.ranks, point.whole_bytes(), contestant.name);
      for (const double seconds :
           {typical.median, typical.min, typical.p99, typical.max, result.limits.line,
            result.limits.copy, result.limits.hand_over, result.yardstick()}) {
        csv += fmt::format(",{:.6g}", seconds * kMicro);
      }
      const ContestantResult* best = result.best_peer();
      const bool has_ratio = contestant.is_ours && best != nullptr;
      csv += has_ratio ? fmt::format(",{:.4g}\n", result.speedup(contestant, *best)) : ",\n";
    }
  }
  return csv;
}

std::string to_json(std::span<const PointResult> results) {
  utsname system{};
  ::uname(&system);
  Json report = {{"host", {{"kernel", system.release}, {"machine", system.machine}}}};
  if (!results.empty()) report["host"]["usable_cpus"] = results.front().usable_cpus;
  report["points"] = Json::array();
  for (const PointResult& result : results) report["points"].push_back(to_object(result));
  return report.dump(2) + "\n";
}

}  // namespace tensorplay::tpbench
