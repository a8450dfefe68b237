// How much memory can still be taken, before the kernel has to kill somebody for it.
#pragma once

#include <cstddef>
#include <string>

namespace tensorplay::shm {

// Where the kernel tells. Other folders are for tests.
struct MemorySources {
  std::string proc = "/proc";
  std::string cgroups = "/sys/fs/cgroup";
};

struct AvailableMemory {
  std::size_t bytes;  // the greatest number if nothing tells
  std::string where;  // "in this machine", or "within the limit of <the cgroup's folder>"
};

// What the kernel counts as available, but no more than the limits of this process's memory cgroup
// and its ancestors leave: version 1 or 2 of cgroups, seen from inside a container or from outside.
// A file cache that can be dropped counts as free. A snapshot: others take memory, too. Reads some
// small files: not for inner loops.
AvailableMemory available_memory(const MemorySources& sources = {}) noexcept;

}  // namespace tensorplay::shm
