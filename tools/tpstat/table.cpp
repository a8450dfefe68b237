#include "tools/tpstat/table.h"

#include <tensorplay/distributed/contributors.h>

#include <fmt/core.h>
#include <chrono>
#include <map>

namespace tensorplay::tpstat {
namespace {

using inspect::RankView;

std::string seconds(const RankView& rank) {
  if (!rank.duration) return "-";
  return fmt::format("{:.1f}", std::chrono::duration<double>(*rank.duration).count());
}

std::string iteration(const RankView& rank) {
  if (rank.iterations == 0 && !rank.joined) return "-";
  return std::to_string(rank.iterations) + (rank.joined ? " (joined)" : "");
}

std::string awaited(const RankView& rank) {
  if (rank.waits_for.empty()) return "-";
  distributed::Contributors ranks;
  for (const int one : rank.waits_for) ranks.insert(one);
  return to_string(ranks);
}

std::string operation(const RankView& rank) {
  if (!rank.end.empty()) return rank.end;
  const auto& call = rank.waits_in ? rank.waits_in : rank.last;
  if (!call) return "-";
  return fmt::format("#{} {}", call->number, call->text);
}

}  // namespace

std::string line_of(const std::string& name, const inspect::JobView& job) {
  std::map<inspect::RankState, int> counts;
  for (const RankView& rank : job.ranks) ++counts[rank.state];
  std::string text =
      fmt::format("{}: {} {}", name, job.ranks.size(), job.ranks.size() == 1 ? "rank" : "ranks");
  const char* separator = "; ";
  for (const auto& [state, count] : counts) {
    text += fmt::format("{}{} {}", separator, count, inspect::name(state));
    separator = ", ";
  }
  return job.failures.empty() ? text : text + "; failed";
}

std::string table_of(const inspect::JobView& job) {
  constexpr const char* kLine = "{:>4} {:>8}  {:<11} {:>8}  {:<14} {:<16} {}\n";
  std::string text = fmt::format(kLine, "RANK", "PID", "STATE", "FOR", "ITERATION", "WAITS FOR",
                                 "OPERATION (ITS LAST, OR THE ONE IT WAITS IN)");
  for (const RankView& rank : job.ranks) {
    text += fmt::format(kLine, rank.rank, rank.pid, inspect::name(rank.state), seconds(rank),
                        iteration(rank), awaited(rank), operation(rank));
  }
  return text;
}

}  // namespace tensorplay::tpstat
