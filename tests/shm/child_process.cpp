#include "tests/shm/child_process.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <csignal>
#include <exception>
#include <stdexcept>

namespace tensorplay::testing {
namespace {

constexpr char kEndOfReport = '\n';

std::string findings_of(const std::function<std::string()>& body) {
  try {
    return body();
  } catch (const std::exception& error) {
    return std::string("threw: ") + error.what();
  }
}

[[noreturn]] void live(const std::function<std::string()>& body, int pipe) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const std::string report = findings_of(body) + kEndOfReport;
  const ssize_t written = write(pipe, report.data(), report.size());
  _exit(written == static_cast<ssize_t>(report.size()) ? 0 : 1);
}

// Everything up to the end of the pipe; "" if that takes too long.
std::string read_all(int pipe, std::chrono::seconds at_most) {
  const auto end = std::chrono::steady_clock::now() + at_most;
  std::string text;
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    pollfd wanted{pipe, POLLIN, 0};
    if (left.count() <= 0 || poll(&wanted, 1, static_cast<int>(left.count())) == 0) return "";
    std::array<char, 512> part{};
    const ssize_t length = read(pipe, part.data(), part.size());
    if (length <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(length));
  }
}

}  // namespace

ChildProcess::ChildProcess(const std::function<std::string()>& body) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("no child");
  if (pid_ == 0) {
    close(ends[0]);
    live(body, ends[1]);
  }
  close(ends[1]);
  pipe_ = ends[0];
}

ChildProcess::~ChildProcess() {
  send(SIGKILL);
  reap();
  close(pipe_);
}

void ChildProcess::send(int signal) const noexcept {
  if (!reaped_) kill(pid_, signal);
}

void ChildProcess::wait_for_end() {
  siginfo_t information{};
  waitid(P_PID, static_cast<id_t>(pid_), &information, WEXITED | WNOWAIT);
}

int ChildProcess::reap() {
  if (!reaped_) waitpid(pid_, &status_, 0);
  reaped_ = true;
  return status_;
}

std::string ChildProcess::report(std::chrono::seconds at_most) {
  std::string text = read_all(pipe_, at_most);
  const bool complete = !text.empty() && text.back() == kEndOfReport;
  if (!complete) send(SIGKILL);
  const int status = reap();
  if (complete) {
    text.pop_back();
    return text;
  }
  return WIFSIGNALED(status) ? "ended by signal " + std::to_string(WTERMSIG(status))
                             : "exited with code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace tensorplay::testing
