// What /proc tells about a process.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace tensorplay::sync {

struct ProcessStatus {
  char state = '?';              // as ps shows it: R, S, D, T, t, Z, X
  bool exiting = false;          // on its way from life to Z
  std::uint64_t start_time = 0;  // clock ticks since boot
  std::array<char, 16> name{};   // of the program, cut; ends in '\0'
  int exit_code = 0;             // as waitpid gives it; of a zombie, and if we may know
};

// Nothing if there is no such process in our PID namespace.
std::optional<ProcessStatus> status_of_process(int pid) noexcept;

// Identifies the PID namespace of the calling process. 0 if it can't be told, or if /proc shows
// another one: then the numbers of processes mean something else there.
std::uint64_t pid_namespace() noexcept;

}  // namespace tensorplay::sync
