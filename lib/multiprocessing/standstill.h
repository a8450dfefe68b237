// Whether all that is left of a job is stopped, and for how long.
#pragma once

#include <sys/types.h>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>

namespace tensorplay::multiprocessing {

// Looks now and then at children of this process. One stands still as long as a signal has stopped
// it (SIGSTOP, SIGTSTP): it will do nothing until somebody continues it. One that a debugger holds
// doesn't stand still, somebody is busy with it; nor does one that can't be looked at, where /proc
// is missing or that of another PID namespace.
//
// Takes the reports of waitid() that a child was stopped or continued, so that no short
// interruption goes unseen between two looks; leaves alone those of its end.
class Standstill {
 public:
  using Clock = std::chrono::steady_clock;
  // How often to look. Of the time between two looks twice as much counts at most: where this
  // process was stopped as well, as by Ctrl-Z in a shell, the children have missed nothing.
  static constexpr std::chrono::milliseconds kInterval{100};

  // For how long all of `children` have stood still without a break, as far as the looks tell;
  // nothing if one doesn't. Counts from 0 when there are others than the last time. `children`: at
  // least one, none of them reaped.
  std::optional<std::chrono::nanoseconds> look(std::span<const pid_t> children,
                                               Clock::time_point now);

 private:
  std::size_t count_ = 0;  // children that stood still at the last look; they only become fewer
  Clock::time_point last_look_{};
  std::chrono::nanoseconds duration_{};
};

}  // namespace tensorplay::multiprocessing
