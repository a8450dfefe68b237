#include "lib/sync/process_status.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tensorplay::sync {
namespace {

constexpr unsigned kExiting = 0x4;  // PF_EXITING, in the kernel's include/linux/sched.h

// Reads a small file of /proc whole; 0 if it can't.
std::size_t read_file(const char* path, char* text, std::size_t size) noexcept {
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  const ssize_t length = read(descriptor, text, size - 1);
  close(descriptor);
  if (length <= 0) return 0;
  text[length] = '\0';
  return static_cast<std::size_t>(length);
}

}  // namespace

std::optional<ProcessStatus> status_of_process(int pid) noexcept {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/stat", pid);
  std::array<char, 2048> text{};
  if (read_file(path.data(), text.data(), text.size()) == 0) return std::nullopt;
  // Fields are counted from 1; the second, the program's name in parentheses, may hold anything.
  const char* field = std::strrchr(text.data(), ')');
  if (field == nullptr || field[1] != ' ') return std::nullopt;
  ProcessStatus status;
  if (const char* name = std::strchr(text.data(), '('); name != nullptr && name < field) {
    const auto length = static_cast<std::size_t>(field - name) - 1;
    std::memcpy(status.name.data(), name + 1, std::min(length, status.name.size() - 1));
  }
  status.state = field[2];
  field += 2;
  constexpr int kFlags = 9;
  constexpr int kStartTime = 22;
  constexpr int kExitCode = 52;
  for (int number = 4; number <= kExitCode && field != nullptr; ++number) {
    field = std::strchr(field + 1, ' ');
    if (field == nullptr) break;
    if (number == kFlags) status.exiting = (std::strtoul(field, nullptr, 10) & kExiting) != 0;
    if (number == kStartTime) status.start_time = std::strtoull(field, nullptr, 10);
    if (number == kExitCode) status.exit_code = static_cast<int>(std::strtol(field, nullptr, 10));
  }
  return status;
}

std::uint64_t pid_namespace() noexcept {
  std::array<char, 32> self{};
  if (readlink("/proc/self", self.data(), self.size() - 1) <= 0) return 0;
  if (std::atoi(self.data()) != getpid()) return 0;
  struct stat status {};
  return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

}  // namespace tensorplay::sync
