#include "lib/multiprocessing/process_end.h"

#include <cstring>

namespace tensorplay::multiprocessing {

std::string signal_text(int signal) {
  std::string text = std::to_string(signal);
  if (const char* name = ::sigabbrev_np(signal)) text += std::string(" (SIG") + name + ")";
  return text;
}

ProcessEnd ProcessEnd::from(const siginfo_t& info) noexcept {
  return {info.si_code == CLD_EXITED ? How::exited : How::killed, info.si_status};
}

int ProcessEnd::exit_code() const noexcept {
  switch (how) {
    case How::exited:
      return code;
    case How::killed:
      return 128 + code;
    case How::unknown:
      break;
  }
  return 1;
}

std::string ProcessEnd::text() const {
  switch (how) {
    case How::exited:
      return "ended with exit code " + std::to_string(code);
    case How::killed:
      return "was ended by signal " + signal_text(code);
    case How::unknown:
      break;
  }
  return "ended, and its exit code is lost: SIGCHLD is ignored, or its handler waits for all "
         "children";
}

}  // namespace tensorplay::multiprocessing
