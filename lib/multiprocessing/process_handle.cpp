#include "lib/multiprocessing/process_handle.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <system_error>

namespace tensorplay::multiprocessing {
namespace {

// glibc has wrappers for these from 2.36 on only.
FileDescriptor open_process(pid_t pid) {
  const long descriptor = ::syscall(SYS_pidfd_open, pid, 0);  // closed by exec
  if (descriptor < 0) throw std::system_error(errno, std::generic_category(), "pidfd_open");
  return FileDescriptor(static_cast<int>(descriptor));
}

}  // namespace

ProcessHandle::ProcessHandle(pid_t pid) : pid_(pid), descriptor_(open_process(pid)) {}

void ProcessHandle::signal(int signal) const noexcept {
  ::syscall(SYS_pidfd_send_signal, descriptor_.get(), signal, nullptr, 0);
}

ProcessEnd ProcessHandle::reap() const noexcept {
  return wait(WEXITED);
}

ProcessEnd ProcessHandle::end_without_reaping() const noexcept {
  return wait(WEXITED | WNOWAIT);
}

ProcessEnd ProcessHandle::wait(int flags) const noexcept {
  siginfo_t info{};
  int result;
  do {
    result = ::waitid(P_PID, static_cast<id_t>(pid_), &info, flags);
  } while (result != 0 && errno == EINTR);
  // ECHILD: reaped already, but not by us.
  return result == 0 ? ProcessEnd::from(info) : ProcessEnd{};
}

void die_with_parent(pid_t parent) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(128 + SIGKILL);
}

}  // namespace tensorplay::multiprocessing
