#include "lib/shm/available_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>

namespace tensorplay::shm {
namespace {

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

// What a memory cgroup's files are called.
struct Version {
  const char* most;
  const char* used;
  const char* droppable;  // a line of memory.stat
};
constexpr Version kVersion1{"/memory.limit_in_bytes", "/memory.usage_in_bytes",
                            "total_inactive_file"};
constexpr Version kVersion2{"/memory.max", "/memory.current", "inactive_file"};

// The number that a file holds; nothing for "max", or for no file.
std::optional<std::size_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::size_t number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

// The number in the line "<name> <number> ...", 0 if there is none.
std::size_t number_after(const std::string& path, std::string_view name) {
  std::ifstream file(path);
  std::string word;
  std::size_t number = 0;
  while (file >> word >> number) {
    if (word == name) return number;
    std::getline(file, word);
  }
  return 0;
}

void consider_machine(const std::string& proc, AvailableMemory& least) {
  const std::size_t kibibytes = number_after(proc + "/meminfo", "MemAvailable:");
  if (kibibytes > 0) least = {kibibytes * 1024, "in this machine"};
}

void consider_cgroup(const std::string& folder, const Version& version, AvailableMemory& least) {
  const auto most = number_in(folder + version.most);
  // Version 1 has a number for no limit, the greatest in whole pages.
  if (!most || *most > kUnlimited / 4) return;
  auto used = number_in(folder + version.used);
  // What can be dropped leaves still more. The kernel takes long to count it.
  if (!used || *most - std::min(*most, *used) >= least.bytes) return;
  *used -= std::min(*used, number_after(folder + "/memory.stat", version.droppable));
  const std::size_t left = *most - std::min(*most, *used);
  if (left < least.bytes) least = {left, "within the limit of " + folder};
}

// Of the cgroup at `path` below `root`, and of those around it. From inside of a container the path
// may be that outside, where nothing is: then the root is this process's own cgroup.
void consider_cgroups(const std::string& root, std::string path, const Version& version,
                      AvailableMemory& least) {
  while (!path.empty()) {
    if (path != "/") consider_cgroup(root + path, version, least);
    const std::size_t slash = path.rfind('/');
    path.resize(slash == std::string::npos ? 0 : slash);
  }
  consider_cgroup(root, version, least);
}

// cgroups(7): a line of /proc/self/cgroup is "<hierarchy>:<controllers>:<path>"; that of version 2
// has number 0 and names no controllers.
void consider_line(const std::string& cgroups, const std::string& line, AvailableMemory& least) {
  const std::size_t first = line.find(':');
  const std::size_t second = line.find(':', first + 1);
  if (first == std::string::npos || second == std::string::npos) return;
  const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
  const std::string path = line.substr(second + 1);
  if (controllers == ",,") consider_cgroups(cgroups, path, kVersion2, least);
  if (controllers.find(",memory,") != std::string::npos) {
    consider_cgroups(cgroups + "/memory", path, kVersion1, least);
  }
}

}  // namespace

AvailableMemory available_memory(const MemorySources& sources) noexcept {
  AvailableMemory least{kUnlimited, ""};
  try {
    consider_machine(sources.proc, least);
    std::ifstream file(sources.proc + "/self/cgroup");
    for (std::string line; std::getline(file, line);) consider_line(sources.cgroups, line, least);
  } catch (...) {
    // Out of memory for a name: the reservation itself will tell.
  }
  return least;
}

}  // namespace tensorplay::shm
