#include "tools/tprun/verdict.h"

namespace tensorplay::tprun {

using multiprocessing::ProcessEnd;

void Verdict::note_failure(int rank, pid_t pid, const ProcessEnd& end, Clock::time_point now) {
  const bool killed = end.how == ProcessEnd::How::killed;
  const bool counts = !first_failure_ || (killed && !is_killed_);
  if (is_decided_ || !counts) return;
  if (!first_failure_) first_failure_ = now;
  is_killed_ = killed;
  exit_code_ = end.exit_code();
  text_ = "rank " + std::to_string(rank) + " (pid " + std::to_string(pid) + ") " + end.text();
}

void Verdict::note_signal(int signal) {
  if (is_decided_) return;
  is_decided_ = true;
  exit_code_ = 128 + signal;
  text_ = "got signal " + multiprocessing::signal_text(signal);
}

bool Verdict::decide(bool all_ended, Clock::time_point now) {
  if (first_failure_ && (is_killed_ || all_ended || now >= *first_failure_ + kSettling)) {
    is_decided_ = true;
  }
  return is_decided_;
}

std::optional<Verdict::Clock::time_point> Verdict::due() const {
  if (is_decided_ || !first_failure_) return std::nullopt;
  return *first_failure_ + kSettling;
}

}  // namespace tensorplay::tprun
