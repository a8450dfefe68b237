#include "tools/tpbench/program_run.h"

#include "lib/multiprocessing/file_descriptor.h"
#include "lib/multiprocessing/process_handle.h"
#include "tools/tpbench/child_program.h"

#include <tensorplay/error.h>

#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>

namespace tensorplay::tpbench {
namespace {

using multiprocessing::FileDescriptor;

constexpr std::size_t kErrorBytesTold = 500;

FileDescriptor make_file() {
  FileDescriptor file(::memfd_create("output", MFD_CLOEXEC));
  if (!file.is_open()) throw std::system_error(errno, std::generic_category(), "memfd_create");
  return file;
}

std::string content(const FileDescriptor& file) {
  struct stat status {};
  ::fstat(file.get(), &status);
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  const ssize_t length = ::pread(file.get(), text.data(), text.size(), 0);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  return text;
}

// The last line or so is what a program that fails says of it.
std::string told(const FileDescriptor& error) {
  std::string text = content(error);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text.size() > kErrorBytesTold) text.erase(0, text.size() - kErrorBytesTold);
  return text.empty() ? "" : ": " + text;
}

}  // namespace

std::string run_program(const std::vector<std::string>& command,
                        std::chrono::milliseconds patience) {
  const FileDescriptor output = make_file(), error = make_file();
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid == 0) {
    multiprocessing::die_with_parent(parent);
    execute(command, output.get(), error.get());
  }
  const multiprocessing::ProcessHandle process(pid);
  const bool has_ended = ends_within(process, patience);
  if (!has_ended) process.signal(SIGKILL);
  const multiprocessing::ProcessEnd how = process.reap();
  if (!has_ended) {
    throw Error(fmt::format("{} (pid {}) hadn't ended after {} s and was killed{}", command.front(),
                            pid, static_cast<double>(patience.count()) / 1000, told(error)));
  }
  if (!how.is_success()) {
    throw Error(fmt::format("{} (pid {}) {}{}", command.front(), pid, how.text(), told(error)));
  }
  return content(output);
}

}  // namespace tensorplay::tpbench
