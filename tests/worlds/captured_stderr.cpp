#include "tests/worlds/captured_stderr.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>

namespace tensorplay::worlds {

CapturedStderr::CapturedStderr() {
  std::fflush(stderr);
  saved_ = dup(STDERR_FILENO);
  memory_ = memfd_create("stderr", 0);
  if (saved_ < 0 || memory_ < 0 || dup2(memory_, STDERR_FILENO) < 0) {
    throw std::system_error(errno, std::generic_category(), "capturing stderr");
  }
}

CapturedStderr::~CapturedStderr() {
  restore();
  close(memory_);
}

void CapturedStderr::restore() noexcept {
  if (saved_ < 0) return;
  std::fflush(stderr);
  dup2(saved_, STDERR_FILENO);
  close(saved_);
  saved_ = -1;
}

std::string CapturedStderr::text() {
  restore();
  std::string text;
  std::array<char, 4096> buffer;
  off_t at = 0;
  for (ssize_t count; (count = pread(memory_, buffer.data(), buffer.size(), at)) > 0; at += count) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

}  // namespace tensorplay::worlds
