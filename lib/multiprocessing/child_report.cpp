#include "lib/multiprocessing/child_report.h"

#include "lib/base/exception_text.h"

#include <tensorplay/error.h>

#include <poll.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>

namespace tensorplay::multiprocessing {
namespace {

struct MessageHead {
  std::uint32_t text_bytes;
  std::uint8_t kind;
  std::uint8_t reserved[3];
};
static_assert(sizeof(MessageHead) + ChildReport::kTextBytesMax == PIPE_BUF);

bool is_peer_failure(const std::exception& error) {
  if (dynamic_cast<const PeerFailure*>(&error) != nullptr) return true;
  try {
    std::rethrow_if_nested(error);
  } catch (const std::exception& nested) {
    return is_peer_failure(nested);
  } catch (...) {
  }
  return false;
}

ChildReport describe_current_exception() {
  ChildReport report{ChildReport::Kind::raised, text_of_current_exception()};
  try {
    throw;
  } catch (const std::exception& error) {
    if (is_peer_failure(error)) report.kind = ChildReport::Kind::peer_failed;
  } catch (...) {
  }
  return report;
}

bool can_be_read(int pipe) {
  pollfd entry{pipe, POLLIN, 0};
  int result;
  do {
    result = ::poll(&entry, 1, 0);
  } while (result < 0 && errno == EINTR);
  return result == 1 && (entry.revents & POLLIN) != 0;
}

}  // namespace

ChildReport report_current_exception() noexcept {
  try {
    return describe_current_exception();
  } catch (...) {
    return {ChildReport::Kind::raised, "exception"};  // no memory for more: fits without any
  }
}

void send(int pipe, const ChildReport& report) noexcept {
  std::array<char, PIPE_BUF> message;
  const std::size_t text_bytes = std::min(report.text.size(), ChildReport::kTextBytesMax);
  const MessageHead head{
      static_cast<std::uint32_t>(text_bytes), static_cast<std::uint8_t>(report.kind), {}};
  std::memcpy(message.data(), &head, sizeof(head));
  std::memcpy(message.data() + sizeof(head), report.text.data(), text_bytes);
  std::signal(SIGPIPE, SIG_IGN);  // the process is about to end; its parent may be gone
  ssize_t written;
  do {
    written = ::write(pipe, message.data(), sizeof(head) + text_bytes);
  } while (written < 0 && errno == EINTR);
}

std::optional<ChildReport> receive(int pipe) {
  std::array<char, PIPE_BUF> message;
  if (!can_be_read(pipe)) return std::nullopt;
  const ssize_t bytes = ::read(pipe, message.data(), message.size());
  MessageHead head;
  if (bytes < static_cast<ssize_t>(sizeof(head))) return std::nullopt;
  std::memcpy(&head, message.data(), sizeof(head));
  if (head.text_bytes != static_cast<std::size_t>(bytes) - sizeof(head)) return std::nullopt;
  return ChildReport{static_cast<ChildReport::Kind>(head.kind),
                     std::string(message.data() + sizeof(head), head.text_bytes)};
}

}  // namespace tensorplay::multiprocessing
