#include "tests/collectives/stepped_clock.h"

#include <atomic>

namespace tensorplay::conformance {
namespace {

std::atomic<std::int64_t> now_ns{1'000'000'000};

}  // namespace

void let_time_pass(std::chrono::nanoseconds duration) noexcept {
  // Relaxed: a number, nothing is read through it.
  now_ns.fetch_add(duration.count(), std::memory_order_relaxed);
}

}  // namespace tensorplay::conformance

// In place of the C++ library's, which is a function of a shared library.
std::chrono::steady_clock::time_point std::chrono::steady_clock::now() noexcept {
  tensorplay::conformance::let_time_pass(std::chrono::microseconds(1));
  // Relaxed: see above.
  return time_point(
      std::chrono::nanoseconds(tensorplay::conformance::now_ns.load(std::memory_order_relaxed)));
}
