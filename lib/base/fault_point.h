// Named places in the protocols at which a test may make a rank fail.
//
//     fault_point("arrival.published");
//
// does nothing, at the price of one load and a branch that is never taken, unless a handler is set:
// then it is called with the name and may kill, stop or delay the process. Names are
// "<protocol>.<step that has just been done>", or "<protocol>.before_<step>".
#pragma once

#include <atomic>

namespace tensorplay {

using FaultHandler = void (*)(const char* name);

// Of this process; null: none. Set by tests before the ranks begin, and inherited by fork.
inline std::atomic<FaultHandler> fault_handler{nullptr};

inline void fault_point(const char* name) {
  // Relaxed: whoever sets the handler does so before the threads begin that pass here.
  FaultHandler handler = fault_handler.load(std::memory_order_relaxed);
  if (handler != nullptr) [[unlikely]] {
    handler(name);
  }
}

}  // namespace tensorplay
