// Why a job ends, and with which exit code.
#pragma once

#include "lib/multiprocessing/process_end.h"

#include <tensorplay/distributed/peer_failure_policy.h>

#include <sys/types.h>
#include <chrono>
#include <optional>
#include <string>

namespace tensorplay::tprun {

// Is told what happens and decides once.
//
// Under `raise` the first rank to fail ends the job, but its peers may notice that it is dying,
// give up and be gone before its memory is torn down: within kSettling of the first failure a rank
// that a signal has ended takes precedence over those with an exit code.
//
// Under `continue_without` no rank ends the job. One that a signal has ended is lost, which is a
// failure only if no rank succeeds; one with an exit code other than 0 has failed, and so has the
// job when all have ended. multiprocessing::spawn() has the same rule.
class Verdict {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kSettling{200};

  explicit Verdict(distributed::PeerFailurePolicy policy) noexcept : policy_(policy) {}

  // These are ignored once it has decided. The first one is for every end, also a success.
  void note_end(int rank, pid_t pid, const multiprocessing::ProcessEnd& end, Clock::time_point now);
  void note_signal(int signal);

  // Whether what is left is to be ended. `all_ended`: nobody is left to wait for.
  bool decide(bool all_ended, Clock::time_point now);
  // When decide() wants to be asked again.
  std::optional<Clock::time_point> due() const;

  bool is_decided() const noexcept { return is_decided_; }
  int exit_code() const noexcept;
  // "rank 2 (pid 123) was ended by signal 11 (SIGSEGV)"; empty as long as all is well.
  const std::string& text() const noexcept { return text_; }

 private:
  bool others_go_on() const noexcept {
    return policy_ == distributed::PeerFailurePolicy::continue_without;
  }
  bool outweighs(const multiprocessing::ProcessEnd& end) const noexcept;

  distributed::PeerFailurePolicy policy_;
  bool is_decided_ = false;
  bool has_success_ = false;
  bool is_killed_ = false;  // the failure is that of a rank that a signal has ended
  std::optional<Clock::time_point> first_failure_;
  int exit_code_ = 0;
  std::string text_;
};

}  // namespace tensorplay::tprun
