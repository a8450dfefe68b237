// The signals that tprun passes on, as a descriptor to poll.
#pragma once

#include "lib/multiprocessing/file_descriptor.h"

#include <csignal>

namespace tensorplay::tprun {

// From its construction on SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP and SIGCONT wait to be read
// instead of ending or stopping tprun; those that it was told to ignore when it was started (nohup)
// stay ignored. SIGPIPE is ignored. One object a process.
class SignalInbox {
 public:
  // Throws std::system_error.
  SignalInbox();

  int descriptor() const noexcept { return descriptor_.get(); }
  // The next signal, 0 if there is none.
  int take() const noexcept;

  // For a child before its exec: signals are as they were when tprun was started.
  void restore() const noexcept;

 private:
  multiprocessing::FileDescriptor descriptor_;
  sigset_t former_mask_;
  struct sigaction former_pipe_action_;
};

}  // namespace tensorplay::tprun
