// How a group starts: its time, and its memory.

#include "tools/tpbench/forked_ranks.h"
#include "tools/tpbench/join_measurements.h"

#include <tensorplay/distributed/process_group.h>

#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>

namespace tensorplay::tpbench {
namespace {

using distributed::ProcessGroup;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Of the files in memory that this process has open, without the rig's: the most memory that one
// has.
double most_memory_of_files() {
  constexpr double kBlock = 512;  // what st_blocks counts
  double most = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const std::string target = std::filesystem::read_symlink(entry.path(), error).string();
    const bool is_ours = target.starts_with("/memfd:") || target.starts_with("/dev/shm/");
    if (error || !is_ours || target.starts_with("/memfd:tpbench")) continue;
    struct stat status {};
    if (::stat(entry.path().c_str(), &status) != 0) continue;
    most = std::max(most, static_cast<double>(status.st_blocks) * kBlock);
  }
  return most;
}

}  // namespace

std::vector<double> time_init(int ranks) {
  const std::string job = "tpbench-" + std::to_string(::getpid());
  return measure_children(ranks, [&](RigRank& rank) {
    rank.meet();
    const auto begin = Clock::now();
    ProcessGroup group = distributed::init_process_group(
        {.rank = rank.rank(), .world_size = ranks, .job_name = job});
    rank.note(seconds_since(begin));
    group.barrier();
  });
}

SpawnTimes time_spawn(int ranks) {
  const auto begin = Clock::now();
  const auto ready = measure_ranks(ranks, [&](ProcessGroup& group, RigRank& rank) {
    rank.note(seconds_since(begin));
    group.barrier();
  });
  return {.ready = std::ranges::max(ready), .end = seconds_since(begin)};
}

double segment_bytes(int ranks) {
  const auto samples = measure_ranks(ranks, [](ProcessGroup& group, RigRank& rank) {
    group.barrier();
    rank.note(most_memory_of_files());
    group.barrier();
  });
  return samples.empty() ? 0 : samples.front();
}

}  // namespace tensorplay::tpbench
