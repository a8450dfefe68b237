#include "tests/tprun/command.h"

#include "lib/multiprocessing/process_end.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace tensorplay::tests {

using multiprocessing::FileDescriptor;
using multiprocessing::Pipe;
using multiprocessing::ProcessEnd;

[[noreturn]] static void execute(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

Command::Command(const std::vector<std::string>& words, const std::string& input) {
  Pipe in = multiprocessing::make_pipe();
  Pipe out = multiprocessing::make_pipe();
  Pipe err = multiprocessing::make_pipe();
  if (::write(in.write_end.get(), input.data(), input.size()) < 0) throw std::runtime_error("pipe");
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(in.read_end.get(), STDIN_FILENO);
    ::dup2(out.write_end.get(), STDOUT_FILENO);
    ::dup2(err.write_end.get(), STDERR_FILENO);
    execute(words);
  }
  output_pipe_ = std::move(out.read_end);
  error_pipe_ = std::move(err.read_end);
}

Command::~Command() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Command::signal(int signal) const {
  ::kill(pid_, signal);
}

static void take(FileDescriptor& pipe, std::string& text) {
  char buffer[65536];
  const ssize_t bytes = ::read(pipe.get(), buffer, sizeof(buffer));
  if (bytes > 0) {
    text.append(buffer, static_cast<std::size_t>(bytes));
  } else {
    pipe.close();
  }
}

bool Command::read_some() {
  pollfd entries[] = {{output_pipe_.get(), POLLIN, 0}, {error_pipe_.get(), POLLIN, 0}};
  if (!output_pipe_.is_open() && !error_pipe_.is_open()) return false;
  if (::poll(entries, 2, -1) < 0) return errno == EINTR;
  if (entries[0].revents != 0) take(output_pipe_, output_);
  if (entries[1].revents != 0) take(error_pipe_, error_);
  return true;
}

void Command::wait_for_output(const std::string& text) {
  while (output_.find(text) == std::string::npos && read_some()) {
  }
}

CommandResult Command::finish() {
  while (read_some()) {
  }
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED);
  pid_ = -1;
  return {ProcessEnd::from(info).exit_code(), output_, error_};
}

std::vector<std::string> tprun(const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"tools/tprun/tprun"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

CommandResult run_tprun(const std::vector<std::string>& arguments, const std::string& input) {
  return Command(tprun(arguments), input).finish();
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

bool is_running(pid_t pid) {
  std::ifstream stream("/proc/" + std::to_string(pid) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const std::size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.substr(name_end, 4).find('Z') == std::string::npos;
}

bool ends_soon(pid_t pid) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    if (!is_running(pid)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));  // no event tells us: not our child
  }
  return false;
}

}  // namespace tensorplay::tests
