#include "tools/tprun/poll_set.h"

#include <cerrno>
#include <system_error>

namespace tensorplay::tprun {

void PollSet::wait(int timeout_ms) {
  const int ready = ::poll(entries_.data(), entries_.size(), timeout_ms);
  if (ready < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "poll");
  if (ready <= 0) return;
  for (std::size_t index = 0; index < entries_.size(); ++index) {
    if (entries_[index].revents != 0) actions_[index]();
  }
}

}  // namespace tensorplay::tprun
