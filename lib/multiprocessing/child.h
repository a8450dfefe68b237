// One forked child that runs a function: starting it, and what is known when it has ended.
#pragma once

#include "lib/multiprocessing/child_report.h"
#include "lib/multiprocessing/file_descriptor.h"
#include "lib/multiprocessing/process_end.h"
#include "lib/multiprocessing/process_handle.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace tensorplay::multiprocessing {

// How a child ended: what the system says and what the child itself said, if it got that far.
struct ChildEnd {
  pid_t pid;
  ProcessEnd process;
  std::optional<ChildReport> report;
  // Set if its parent killed it: for how long it had been stopped, and all others had ended.
  std::optional<std::chrono::nanoseconds> stopped_for = std::nullopt;

  bool is_failure() const noexcept;
  // Another rank is to blame, the child says.
  bool is_consequence() const noexcept;
  // "raised InvalidArgument: no such rank", "was ended by signal 9 (SIGKILL)", the latter with why
  // if it was by its parent.
  std::string text() const;
  // As a shell would give it; 1 for an exception.
  int exit_code() const noexcept;
};

// Held by the parent. The child waits at a gate before it does anything, so that a job whose later
// children can't be started has done nothing.
class Child {
 public:
  // Forks. The child waits for one byte from `gate`, runs `body`, flushes stdio, reports and ends
  // by _exit(): neither the caller's destructors nor its atexit handlers run. It ends without
  // running `body` when the gate's last writer goes away, and is killed when the calling thread
  // ends. `on_fork` runs first of all in the child: to close what only the parent needs. Throws
  // std::system_error.
  Child(Pipe& gate, const std::function<void()>& body, const std::function<void()>& on_fork);

  pid_t pid() const noexcept { return process_.pid(); }
  const ProcessHandle& process() const noexcept { return process_; }
  // Waits for the end and reads the report. To be called once. The process stays a zombie, from
  // which others can read how it ended, until it is reaped through process().
  ChildEnd collect();
  // For a sibling, right after its fork: it has no business with these.
  void close_descriptors() noexcept;

 private:
  Child(Pipe& gate, const std::function<void()>& body, const std::function<void()>& on_fork,
        Pipe report);

  ProcessHandle process_;
  FileDescriptor report_;
};

}  // namespace tensorplay::multiprocessing
