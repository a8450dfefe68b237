#include "lib/distributed/launcher_process.h"

#include <sys/types.h>
#include <unistd.h>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

namespace tensorplay::distributed {
namespace {

struct ProcessStat {
  pid_t parent;
  unsigned long long start_ticks;  // since boot
};

std::string contents_of(pid_t pid, const char* file) {
  std::ifstream stream("/proc/" + std::to_string(pid) + "/" + file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// proc(5): pid (name) state parent ... with the start time in field 22. The name may hold anything,
// also ')'.
std::optional<ProcessStat> stat_of(pid_t pid) {
  const std::string text = contents_of(pid, "stat");
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  std::string state, skipped;
  ProcessStat stat{};
  fields >> state >> stat.parent;
  for (int field = 5; field < 22; ++field) fields >> skipped;
  if (!(fields >> stat.start_ticks)) return std::nullopt;
  return stat;
}

// Of the environment at its start, which is what the launcher gave it. Empty, so no, for a process
// of another user.
bool was_started_with(pid_t pid, const std::string& variable) {
  const std::string environment = '\0' + contents_of(pid, "environ");
  return environment.find('\0' + variable + '=') != std::string::npos;
}

}  // namespace

std::string launcher_process(const std::string& rank_variable) {
  pid_t pid = ::getppid();
  std::optional<ProcessStat> stat = stat_of(pid);
  while (stat && stat->parent > 0 && was_started_with(pid, rank_variable)) {
    pid = stat->parent;
    stat = stat_of(pid);
  }
  const std::string start = stat ? "-" + std::to_string(stat->start_ticks) : std::string();
  return std::to_string(pid) + start;
}

}  // namespace tensorplay::distributed
