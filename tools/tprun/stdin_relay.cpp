#include "tools/tprun/stdin_relay.h"

#include <fcntl.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <system_error>

namespace tensorplay::tprun {

StdinRelay::StdinRelay(multiprocessing::FileDescriptor sink) : sink_(std::move(sink)) {
  if (::fcntl(sink_.get(), F_SETFL, O_NONBLOCK) != 0) {
    throw std::system_error(errno, std::generic_category(), "fcntl");
  }
}

bool StdinRelay::wants_to_read() const noexcept {
  return sink_.is_open() && pending_.empty() && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
}

void StdinRelay::read_some() {
  std::array<char, 4096> buffer;
  const ssize_t bytes = ::read(STDIN_FILENO, buffer.data(), buffer.size());
  if (bytes < 0 && errno == EINTR) return;
  if (bytes > 0) {
    pending_.assign(buffer.data(), static_cast<std::size_t>(bytes));
  } else {
    sink_.close();  // Ctrl-D, or the terminal is gone
  }
}

void StdinRelay::write_some() {
  const ssize_t bytes = ::write(sink_.get(), pending_.data(), pending_.size());
  if (bytes >= 0) {
    pending_.erase(0, static_cast<std::size_t>(bytes));
  } else if (errno != EINTR && errno != EAGAIN) {
    sink_.close();
  }
}

}  // namespace tensorplay::tprun
