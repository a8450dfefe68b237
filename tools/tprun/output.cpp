#include "tools/tprun/output.h"

#include <unistd.h>
#include <cerrno>
#include <climits>

namespace tensorplay::tprun {

void Output::append(std::string_view text) {
  if (!is_broken_) queue_ += text;
}

// A pipe that can be written takes PIPE_BUF bytes without blocking.
std::string_view Output::next_piece() const noexcept {
  const std::string_view rest = std::string_view(queue_).substr(written_);
  if (rest.size() <= PIPE_BUF) return rest;
  const std::size_t newline = rest.substr(0, PIPE_BUF).rfind('\n');
  return rest.substr(0, newline == std::string_view::npos ? PIPE_BUF : newline + 1);
}

void Output::write_some() {
  const std::string_view piece = next_piece();
  const ssize_t bytes = ::write(descriptor_, piece.data(), piece.size());
  if (bytes < 0) {
    if (errno == EINTR || errno == EAGAIN) return;
    lost_by_ = errno == EPIPE ? 0 : errno;
    give_up();
    return;
  }
  written_ += static_cast<std::size_t>(bytes);
  if (is_empty() || written_ >= kQueueBytes) {
    queue_.erase(0, written_);
    written_ = 0;
  }
}

void Output::give_up() noexcept {
  is_broken_ = true;
  queue_.clear();
  written_ = 0;
}

}  // namespace tensorplay::tprun
