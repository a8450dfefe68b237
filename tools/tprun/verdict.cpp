#include "tools/tprun/verdict.h"

namespace tensorplay::tprun {

using multiprocessing::ProcessEnd;

void Verdict::note_end(int rank, pid_t pid, const ProcessEnd& end, Clock::time_point now) {
  if (is_decided_) return;
  if (end.is_success()) {
    has_success_ = true;
    return;
  }
  if (first_failure_ && !outweighs(end)) return;
  if (!first_failure_) first_failure_ = now;
  is_killed_ = end.how == ProcessEnd::How::killed;
  exit_code_ = end.exit_code();
  text_ = "rank " + std::to_string(rank) + " (pid " + std::to_string(pid) + ") " + end.text();
}

// Whether a later failure counts instead of the first one.
bool Verdict::outweighs(const ProcessEnd& end) const noexcept {
  const bool killed = end.how == ProcessEnd::How::killed;
  return others_go_on() ? is_killed_ && !killed : killed && !is_killed_;
}

void Verdict::note_signal(int signal) {
  if (is_decided_) return;
  is_decided_ = true;
  is_killed_ = false;  // not a rank's
  exit_code_ = 128 + signal;
  text_ = "got signal " + multiprocessing::signal_text(signal);
}

bool Verdict::decide(bool all_ended, Clock::time_point now) {
  const bool settled =
      first_failure_ && !others_go_on() && (is_killed_ || now >= *first_failure_ + kSettling);
  if (settled || (first_failure_ && all_ended)) is_decided_ = true;
  return is_decided_;
}

std::optional<Verdict::Clock::time_point> Verdict::due() const {
  if (is_decided_ || !first_failure_ || others_go_on()) return std::nullopt;
  return *first_failure_ + kSettling;
}

int Verdict::exit_code() const noexcept {
  const bool only_losses = others_go_on() && is_killed_ && has_success_;
  return only_losses ? 0 : exit_code_;
}

}  // namespace tensorplay::tprun
