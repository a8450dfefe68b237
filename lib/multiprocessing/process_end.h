// How a process ended, and the words for it.
#pragma once

#include <csignal>
#include <string>

namespace tensorplay::multiprocessing {

// "9 (SIGKILL)", or the number alone for a signal without a name.
std::string signal_text(int signal);

// A value. `unknown`: somebody else took the exit code, or the system threw it away since SIGCHLD
// is ignored.
struct ProcessEnd {
  enum class How { exited, killed, unknown };

  How how = How::unknown;
  int code = 0;  // the exit code or the signal

  // What waitid() tells.
  static ProcessEnd from(const siginfo_t& info) noexcept;

  bool is_success() const noexcept { return how == How::exited && code == 0; }
  // As a shell gives it: the exit code, 128 + signal, or 1 if it is unknown.
  int exit_code() const noexcept;
  // "ended with exit code 3", "was ended by signal 9 (SIGKILL)": to follow the name of a process.
  std::string text() const;
};

}  // namespace tensorplay::multiprocessing
