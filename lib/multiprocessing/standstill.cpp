#include "lib/multiprocessing/standstill.h"

#include "lib/sync/process_status.h"

#include <sys/wait.h>
#include <algorithm>
#include <csignal>

namespace tensorplay::multiprocessing {
namespace {

// Whether it was stopped or continued since this was asked last. A child has one such report at a
// time: the later one replaces the earlier.
bool has_news(pid_t child) noexcept {
  siginfo_t info{};
  const int result =
      ::waitid(P_PID, static_cast<id_t>(child), &info, WSTOPPED | WCONTINUED | WNOHANG);
  return result == 0 && info.si_pid != 0;
}

bool is_stopped(pid_t child) noexcept {
  const auto status = sync::status_of_process(child);
  return status && status->state == 'T' && sync::pid_namespace() != 0;
}

}  // namespace

std::optional<std::chrono::nanoseconds> Standstill::look(std::span<const pid_t> children,
                                                         Clock::time_point now) {
  bool is_new = children.size() != count_;
  const auto since_last = std::min<std::chrono::nanoseconds>(now - last_look_, 2 * kInterval);
  last_look_ = now;
  count_ = 0;
  for (const pid_t child : children) {
    // In this order: what happens in between is news at the next look.
    if (has_news(child)) is_new = true;
    if (!is_stopped(child)) return std::nullopt;
  }
  count_ = children.size();
  duration_ = is_new ? std::chrono::nanoseconds(0) : duration_ + since_last;
  return duration_;
}

}  // namespace tensorplay::multiprocessing
