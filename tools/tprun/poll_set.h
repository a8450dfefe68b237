// Descriptors to wait for, each with what to do when it is ready.
#pragma once

#include <poll.h>
#include <functional>
#include <vector>

namespace tensorplay::tprun {

// Filled anew for every wait.
class PollSet {
 public:
  void add(int descriptor, short events, std::function<void()> on_ready) {
    entries_.push_back({descriptor, events, 0});
    actions_.push_back(std::move(on_ready));
  }

  // Waits for at most that long (for ever if negative) and does what is due. A signal handler ends
  // the wait early. Throws std::system_error.
  void wait(int timeout_ms);

 private:
  std::vector<pollfd> entries_;
  std::vector<std::function<void()>> actions_;
};

}  // namespace tensorplay::tprun
