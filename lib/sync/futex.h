// Sleeping and waking between processes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace tensorplay::sync {

// Sleeps while `word` holds `expected`, at most for `at_most`. Returns early for a wake-up, a
// signal, or no reason at all: the caller looks again. Works between processes, unlike
// std::atomic::wait of libstdc++.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
                std::chrono::nanoseconds at_most) noexcept;

// Wakes everyone who sleeps on `word`. A system call: only where somebody sleeps.
void futex_wake_all(const std::atomic<std::uint32_t>& word) noexcept;

}  // namespace tensorplay::sync
