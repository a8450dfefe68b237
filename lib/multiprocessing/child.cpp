#include "lib/multiprocessing/child.h"

#include "lib/base/seconds_text.h"

#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <system_error>

namespace tensorplay::multiprocessing {
namespace {

void flush_stdio() noexcept {
  std::cout.flush();
  std::clog.flush();
  std::fflush(nullptr);
}

bool passes_gate(int gate) noexcept {
  char byte;
  ssize_t bytes;
  do {
    bytes = ::read(gate, &byte, 1);
  } while (bytes < 0 && errno == EINTR);
  return bytes == 1;
}

ChildReport run(const std::function<void()>& body) noexcept {
  try {
    body();
    return {};
  } catch (...) {
    return report_current_exception();
  }
}

[[noreturn]] void live(int gate, const std::function<void()>& body, int report_pipe) noexcept {
  if (!passes_gate(gate)) ::_exit(1);
  const ChildReport report = run(body);
  flush_stdio();
  send(report_pipe, report);
  ::_exit(report.kind == ChildReport::Kind::finished ? 0 : 1);
}

pid_t fork_child(Pipe& gate, const std::function<void()>& body,
                 const std::function<void()>& on_fork, Pipe& report) {
  flush_stdio();  // what lies in the buffers must not come out once per child
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid != 0) return pid;
  die_with_parent(parent);
  gate.write_end.close();
  report.read_end.close();
  on_fork();
  live(gate.read_end.get(), body, report.write_end.get());
}

// A child without a handle can't be looked after.
ProcessHandle open_or_kill(pid_t pid) {
  try {
    return ProcessHandle(pid);
  } catch (const std::system_error&) {
    ::kill(pid, SIGKILL);
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    throw;
  }
}

}  // namespace

bool ChildEnd::is_failure() const noexcept {
  // An exit code that is lost leaves the child's own word.
  if (process.how == ProcessEnd::How::unknown) {
    return !report || report->kind != ChildReport::Kind::finished;
  }
  return !process.is_success();
}

bool ChildEnd::is_consequence() const noexcept {
  return process.how != ProcessEnd::How::killed && report &&
         report->kind == ChildReport::Kind::peer_failed;
}

std::string ChildEnd::text() const {
  const bool raised = report && report->kind != ChildReport::Kind::finished;
  if (raised && process.how != ProcessEnd::How::killed) return "raised " + report->text;
  if (!stopped_for || process.how != ProcessEnd::How::killed) return process.text();
  return process.text() + ": it had been stopped for " + seconds_text(*stopped_for) +
         " s while no other rank was running";
}

int ChildEnd::exit_code() const noexcept {
  return process.exit_code();
}

Child::Child(Pipe& gate, const std::function<void()>& body, const std::function<void()>& on_fork)
    : Child(gate, body, on_fork, make_pipe()) {}

Child::Child(Pipe& gate, const std::function<void()>& body, const std::function<void()>& on_fork,
             Pipe report)
    : process_(open_or_kill(fork_child(gate, body, on_fork, report))),
      report_(std::move(report.read_end)) {}

ChildEnd Child::collect() {
  const ProcessEnd end = process_.end_without_reaping();
  return {pid(), end, receive(report_.get())};
}

void Child::close_descriptors() noexcept {
  process_.close();
  report_.close();
}

}  // namespace tensorplay::multiprocessing
