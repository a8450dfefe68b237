#include <tensorplay/distributed/algorithms/join_report.h>

#include <cstdio>

namespace tensorplay::distributed::algorithms {

std::string to_string(const JoinReport& report) {
  if (!report.enabled) return "the Join context was disabled\n";
  std::string text = "rank  iterations  shadowed  waiting [ms]\n";
  for (std::size_t rank = 0; rank < report.ranks.size(); ++rank) {
    const JoinReport::Rank& entry = report.ranks[rank];
    char line[96];
    std::snprintf(line, sizeof(line), "%4zu  %10lld  %8lld  %12.1f%s\n", rank,
                  static_cast<long long>(entry.iterations), static_cast<long long>(entry.shadowed),
                  std::chrono::duration<double, std::milli>(entry.waiting).count(),
                  report.last_joiners.contains(static_cast<int>(rank)) ? "  last" : "");
    text += line;
  }
  for (const JoinReport::Death& death : report.deaths) {
    text += "rank " + std::to_string(death.rank) + " (pid " + std::to_string(death.pid) + ") " +
            death.how +
            (death.iteration < 0 ? " before this context"
                                 : " in iteration " + std::to_string(death.iteration)) +
            ", after operation " + std::to_string(death.last_operation) + "\n";
  }
  return text;
}

}  // namespace tensorplay::distributed::algorithms
