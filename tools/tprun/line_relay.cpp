#include "tools/tprun/line_relay.h"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace tensorplay::tprun {

LineRelay::LineRelay(multiprocessing::FileDescriptor source, std::string prefix, Output& output)
    : source_(std::move(source)), prefix_(std::move(prefix)), output_(&output) {
  if (::fcntl(source_.get(), F_SETFL, O_NONBLOCK) != 0) {
    throw std::system_error(errno, std::generic_category(), "fcntl");
  }
}

bool LineRelay::read_some() {
  std::array<char, std::size_t{32} << 10> buffer;
  const ssize_t bytes = ::read(source_.get(), buffer.data(), buffer.size());
  if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (bytes > 0) take({buffer.data(), static_cast<std::size_t>(bytes)});
  if (bytes <= 0 || output_->is_broken()) close();
  return bytes > 0;
}

void LineRelay::close() {
  if (!line_.empty()) put_line({});
  source_.close();
}

void LineRelay::take(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t room = kLineBytesMax - line_.size();
    const std::size_t newline = bytes.substr(0, room + 1).find('\n');
    if (newline != std::string_view::npos) {
      put_line(bytes.substr(0, newline));
      bytes.remove_prefix(newline + 1);
    } else if (bytes.size() > room) {
      put_line(bytes.substr(0, room));
      bytes.remove_prefix(room);
    } else {
      line_ += bytes;
      return;
    }
  }
}

void LineRelay::put_line(std::string_view rest_of_line) {
  output_->append(prefix_);
  output_->append(line_);
  output_->append(rest_of_line);
  output_->append("\n");
  line_.clear();
}

}  // namespace tensorplay::tprun
