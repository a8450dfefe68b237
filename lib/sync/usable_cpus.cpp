#include "lib/sync/usable_cpus.h"

#include <sched.h>
#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <string>

namespace tensorplay::sync {
namespace {

// cpu.max of one cgroup: "<quota> <period>" in microseconds, or "max <period>".
int cpus_of_quota(const std::string& path) {
  std::ifstream file(path);
  long quota = 0;
  long period = 0;
  if (!(file >> quota >> period) || quota <= 0 || period <= 0) return 0;
  return static_cast<int>((quota + period - 1) / period);
}

}  // namespace

int cgroup_cpus() noexcept {
  try {
    std::ifstream file("/proc/self/cgroup");
    int fewest = 0;
    const auto consider = [&fewest](int cpus) {
      if (cpus > 0 && (fewest == 0 || cpus < fewest)) fewest = cpus;
    };
    for (std::string line; std::getline(file, line);) {
      if (line.rfind("0::", 0) != 0) continue;
      // A quota of any ancestor binds, too.
      for (std::string path = line.substr(3); !path.empty(); path.resize(path.rfind('/'))) {
        consider(cpus_of_quota("/sys/fs/cgroup" + path + "/cpu.max"));
        if (path.rfind('/') == std::string::npos) break;
      }
      consider(cpus_of_quota("/sys/fs/cgroup/cpu.max"));
    }
    return fewest;
  } catch (...) {
    return 0;  // without a readable quota there is none to keep
  }
}

void publish_usable_cpus(shm::SegmentHeader& header) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return;
  std::array<std::uint64_t, 16> words{};
  static_assert(sizeof(words) * 8 >= CPU_SETSIZE, "every CPU of a cpu_set_t has its bit");
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) words[cpu / 64] |= std::uint64_t{1} << (cpu % 64);
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    // Relaxed: a hint for the waiting; nothing is read through it.
    header.usable_cpus[i].fetch_or(words[i], std::memory_order_relaxed);
  }
}

int usable_cpus(const shm::SegmentHeader& header) noexcept {
  int count = 0;
  for (const auto& word : header.usable_cpus) {
    // Relaxed: see publish_usable_cpus().
    count += std::popcount(word.load(std::memory_order_relaxed));
  }
  static const int quota = cgroup_cpus();
  if (quota > 0) count = std::min(count, quota);
  return std::max(count, 1);
}

}  // namespace tensorplay::sync
