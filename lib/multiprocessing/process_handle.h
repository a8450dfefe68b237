// A child process, referred to by a descriptor that can be polled.
#pragma once

#include "lib/multiprocessing/file_descriptor.h"
#include "lib/multiprocessing/process_end.h"

#include <sys/types.h>

namespace tensorplay::multiprocessing {

// Refers to one child of this process. Neither ends nor reaps it by itself: its owner decides. A
// number that the system has given to another process is never signalled.
class ProcessHandle {
 public:
  // Throws std::system_error, ESRCH among others if `pid` has ended and is reaped already.
  explicit ProcessHandle(pid_t pid);

  pid_t pid() const noexcept { return pid_; }
  // Readable for poll() from the end of the process on.
  int descriptor() const noexcept { return descriptor_.get(); }
  void close() noexcept { descriptor_.close(); }

  // Does nothing once the process has ended.
  void signal(int signal) const noexcept;
  // Waits for the end and reaps the process. To be called once.
  ProcessEnd reap() const noexcept;
  // Waits for the end and leaves the process a zombie, so that its number and its process group's
  // stay taken.
  ProcessEnd end_without_reaping() const noexcept;

 private:
  ProcessEnd wait(int flags) const noexcept;

  pid_t pid_;
  FileDescriptor descriptor_;
};

// For a child right after the fork: it is killed as soon as the thread that forked it ends, also if
// that has happened already.
void die_with_parent(pid_t parent) noexcept;

}  // namespace tensorplay::multiprocessing
