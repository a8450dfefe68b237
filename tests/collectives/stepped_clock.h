// std::chrono::steady_clock, for programs that link this: time passes when the test says so.
//
// The engine looks for the dead every few milliseconds. With the machine's clock the moments of
// these looks would differ from run to run, and no schedule could be had again.
#pragma once

#include <chrono>

namespace tensorplay::conformance {

// Every look at the clock moves it by a microsecond, too, so that nobody spins for ever.
void let_time_pass(std::chrono::nanoseconds duration) noexcept;

}  // namespace tensorplay::conformance
