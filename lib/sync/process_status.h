// What /proc tells about a process.
#pragma once

#include <cstdint>
#include <optional>

namespace tensorplay::sync {

struct ProcessStatus {
  char state = '?';              // as ps shows it: R, S, D, T, t, Z, X
  std::uint64_t start_time = 0;  // clock ticks since boot
  int exit_code = 0;             // as waitpid gives it; of a zombie, and if we may know
};

// Nothing if there is no such process in our PID namespace.
std::optional<ProcessStatus> status_of_process(int pid) noexcept;

// Identifies the PID namespace of the calling process; 0 if it can't be told.
std::uint64_t pid_namespace() noexcept;

}  // namespace tensorplay::sync
