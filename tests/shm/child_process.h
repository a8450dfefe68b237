// A forked child that reports to its parent instead of asserting.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>

namespace tensorplay::testing {

// Runs a body in a child of this process, which must have one thread. The child is killed and
// reaped with this object, and by the kernel should this process end first.
class ChildProcess {
 public:
  // What the body returns is its report: "" if it found nothing wrong. What it throws is one, too.
  explicit ChildProcess(const std::function<std::string()>& body);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const noexcept { return pid_; }
  void send(int signal) const noexcept;

  // Waits until the child has ended, without reaping it: it stays a zombie.
  void wait_for_end();
  // Waits for the end and reaps; the status of waitpid().
  int reap();
  // The report, or how the child ended without one; reaps. A child that takes longer is killed.
  std::string report(std::chrono::seconds at_most = std::chrono::seconds(50));

 private:
  pid_t pid_;
  int pipe_ = -1;
  int status_ = 0;
  bool reaped_ = false;
};

}  // namespace tensorplay::testing
