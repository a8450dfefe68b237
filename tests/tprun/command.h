// A program that a test runs and watches.
#pragma once

#include "lib/multiprocessing/file_descriptor.h"

#include <sys/types.h>
#include <string>
#include <vector>

namespace tensorplay::tests {

struct CommandResult {
  int exit_code;  // 128 + signal
  std::string output;
  std::string error;
};

// Starts the program with `input` (at most some KiB) as its standard input, and its other streams
// as pipes to here. Killed at the end of the object's life if it still runs.
class Command {
 public:
  explicit Command(const std::vector<std::string>& words, const std::string& input = "");
  ~Command();
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  void signal(int signal) const;
  // Reads standard output until `text` has come, or the end.
  void wait_for_output(const std::string& text);
  // What has come so far.
  const std::string& output() const noexcept { return output_; }
  // Nobody reads standard output any more.
  void close_output() { output_pipe_.close(); }
  // Reads all there is until both streams and the program have ended.
  CommandResult finish();

 private:
  bool read_some();

  pid_t pid_ = -1;
  multiprocessing::FileDescriptor output_pipe_;
  multiprocessing::FileDescriptor error_pipe_;
  std::string output_;
  std::string error_;
};

// tprun with these arguments, and what it came to.
std::vector<std::string> tprun(const std::vector<std::string>& arguments);
CommandResult run_tprun(const std::vector<std::string>& arguments, const std::string& input = "");

// The lines of a text, sorted: the order between ranks is nobody's promise.
std::vector<std::string> sorted_lines(const std::string& text);

// Whether that process exists and isn't a zombie.
bool is_running(pid_t pid);
// Waits until it isn't; false if that takes too long.
bool ends_soon(pid_t pid);

}  // namespace tensorplay::tests
