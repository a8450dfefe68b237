#include "tools/tprun/signal_inbox.h"

#include <sys/signalfd.h>
#include <unistd.h>
#include <cerrno>
#include <system_error>

namespace tensorplay::tprun {
namespace {

bool is_ignored(int signal) {
  struct sigaction action;
  ::sigaction(signal, nullptr, &action);
  return action.sa_handler == SIG_IGN;
}

sigset_t signals_to_pass_on() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT}) {
    if (!is_ignored(signal)) ::sigaddset(&set, signal);
  }
  return set;
}

}  // namespace

SignalInbox::SignalInbox() {
  // Ignored by a parent, it would make exit codes vanish.
  std::signal(SIGCHLD, SIG_DFL);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &former_pipe_action_);

  const sigset_t set = signals_to_pass_on();
  ::sigprocmask(SIG_BLOCK, &set, &former_mask_);
  descriptor_ = multiprocessing::FileDescriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!descriptor_.is_open()) throw std::system_error(errno, std::generic_category(), "signalfd");
}

int SignalInbox::take() const noexcept {
  signalfd_siginfo info;
  const ssize_t bytes = ::read(descriptor_.get(), &info, sizeof(info));
  return bytes == sizeof(info) ? static_cast<int>(info.ssi_signo) : 0;
}

void SignalInbox::restore() const noexcept {
  ::sigaction(SIGPIPE, &former_pipe_action_, nullptr);
  ::sigprocmask(SIG_SETMASK, &former_mask_, nullptr);
}

}  // namespace tensorplay::tprun
