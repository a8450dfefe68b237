// How much memory can still be taken, before the kernel has to kill somebody for it.
#pragma once

#include <cstddef>

namespace tensorplay::shm {

// Bytes: what the kernel counts as available, but no more than the limits of this process's cgroup
// and its ancestors leave. The greatest number if nothing tells. A snapshot: others take memory,
// too.
std::size_t available_memory() noexcept;

}  // namespace tensorplay::shm
