#include "lib/shm/available_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace tensorplay::shm {
namespace {

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

// The number that a file holds; nothing for "max", or for no file.
std::optional<std::size_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::size_t number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

std::size_t available_in_machine() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::size_t kibibytes = 0;
  std::string unit;
  while (file >> name >> kibibytes) {
    if (name == "MemAvailable:") return kibibytes * 1024;
    std::getline(file, unit);
  }
  return kUnlimited;
}

std::size_t available_in_cgroup(const std::string& folder) {
  const auto most = number_in(folder + "/memory.max");
  const auto used = number_in(folder + "/memory.current");
  if (!most || !used) return kUnlimited;
  return *most - std::min(*most, *used);
}

// Of this process's cgroup and of those around it.
std::size_t available_in_cgroups() {
  std::size_t least = available_in_cgroup("/sys/fs/cgroup");
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("0::")) continue;
    for (std::string path = line.substr(3); path.size() > 1; path.resize(path.rfind('/'))) {
      least = std::min(least, available_in_cgroup("/sys/fs/cgroup" + path));
    }
  }
  return least;
}

}  // namespace

std::size_t available_memory() noexcept {
  try {
    return std::min(available_in_machine(), available_in_cgroups());
  } catch (...) {
    return kUnlimited;
  }
}

}  // namespace tensorplay::shm
