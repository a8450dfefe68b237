// Why a job ends, and with which exit code.
#pragma once

#include "lib/multiprocessing/process_end.h"

#include <sys/types.h>
#include <chrono>
#include <optional>
#include <string>

namespace tensorplay::tprun {

// Is told what happens and decides once. The first rank to fail counts, but its peers may notice
// that it is dying, give up and be gone before its memory is torn down: within kSettling of the
// first failure a rank that a signal has ended takes precedence over those with an exit code.
class Verdict {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kSettling{200};

  // Both are ignored once it has decided.
  void note_failure(int rank, pid_t pid, const multiprocessing::ProcessEnd& end,
                    Clock::time_point now);
  void note_signal(int signal);

  // Whether the other ranks are to be ended. `all_ended`: nobody is left to wait for.
  bool decide(bool all_ended, Clock::time_point now);
  // When decide() wants to be asked again.
  std::optional<Clock::time_point> due() const;

  bool is_decided() const noexcept { return is_decided_; }
  int exit_code() const noexcept { return exit_code_; }
  // "rank 2 (pid 123) was ended by signal 11 (SIGSEGV)"; empty as long as all is well.
  const std::string& text() const noexcept { return text_; }

 private:
  bool is_decided_ = false;
  bool is_killed_ = false;  // the failure is that of a rank that a signal has ended
  std::optional<Clock::time_point> first_failure_;
  int exit_code_ = 0;
  std::string text_;
};

}  // namespace tensorplay::tprun
