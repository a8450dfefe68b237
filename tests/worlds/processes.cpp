// The world in which every rank is a forked process.
//
// A child tells its parent through a pipe: one letter when its body has ended, then what it found.
// The end of the pipe is the end of the child, however it came.

#include "lib/distributed/attach.h"
#include "tests/worlds/world_runners.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

namespace tensorplay::worlds {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kReportFollows = 'R';

struct Child {
  pid_t pid = -1;
  int pipe = -1;  // to read from; -1 once the child has ended
  std::string received;
};

void write_all(int pipe, const std::string& text) {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = write(pipe, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // the parent has gone: nobody to tell
    written += static_cast<std::size_t>(count);
  }
}

[[noreturn]] void live_as_child(const std::shared_ptr<shm::Segment>& segment, int rank, int pipe,
                                const RankBody& body, const WorldOptions& options) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  write_all(pipe, kReportFollows + live_as_rank(segment, rank, body, options));
  std::fflush(nullptr);
  // Neither destructors nor exit handlers: they are the parent's.
  _exit(0);
}

Child start_child(const std::shared_ptr<shm::Segment>& segment, int rank, const RankBody& body,
                  const WorldOptions& options) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe2");
  }
  std::fflush(nullptr);  // or the child would print it once more
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    live_as_child(segment, rank, ends[1], body, options);
  }
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    throw std::system_error(errno, std::generic_category(), "fork");
  }
  return {pid, ends[0], {}};
}

// "state S (sleeping), wchan futex_wait": what the kernel says about a process that hangs.
std::string activity_of(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  std::string text;
  std::ifstream status(folder + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("State:") || line.starts_with("voluntary_ctxt")) text += " " + line;
  }
  std::string channel;
  std::ifstream(folder + "/wchan") >> channel;
  return text + " wchan: " + channel;
}

// Watches over the children until all have ended.
class Parent {
 public:
  Parent(const std::shared_ptr<shm::Segment>& segment, Clock::time_point start)
      : segment_(segment),
        start_(start),
        children_(static_cast<std::size_t>(segment->world_size())),
        outcomes_(children_.size()) {}

  ~Parent() { kill_all(); }
  Parent(const Parent&) = delete;
  Parent& operator=(const Parent&) = delete;

  Child& child(int rank) { return children_[static_cast<std::size_t>(rank)]; }

  std::vector<RankOutcome> watch(Clock::time_point deadline) {
    while (anybody_lives()) {
      if (Clock::now() >= deadline) kill_the_hung();
      poll_once(deadline);
    }
    return outcomes_;
  }

 private:
  bool anybody_lives() const {
    for (const Child& one : children_) {
      if (one.pipe >= 0) return true;
    }
    return false;
  }

  void poll_once(Clock::time_point deadline) {
    std::vector<pollfd> waits;
    std::vector<std::size_t> ranks;
    for (std::size_t rank = 0; rank < children_.size(); ++rank) {
      if (children_[rank].pipe < 0) continue;
      waits.push_back({children_[rank].pipe, POLLIN, 0});
      ranks.push_back(rank);
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    const auto wait_ms = std::max<std::chrono::milliseconds::rep>(left.count(), 100);
    poll(waits.data(), waits.size(), static_cast<int>(wait_ms));
    for (std::size_t i = 0; i < waits.size(); ++i) {
      if (waits[i].revents != 0) read_from(ranks[i]);
    }
  }

  void read_from(std::size_t rank) {
    std::array<char, 4096> buffer;
    const ssize_t count = read(children_[rank].pipe, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) return;
    if (count > 0) {
      children_[rank].received.append(buffer.data(), static_cast<std::size_t>(count));
    } else {
      bury(rank);
    }
  }

  void bury(std::size_t rank) {
    Child& dead = children_[rank];
    RankOutcome& outcome = outcomes_[rank];
    outcome.ended_after = Clock::now() - start_;
    close(dead.pipe);
    dead.pipe = -1;
    siginfo_t end{};
    while (waitid(P_PID, static_cast<id_t>(dead.pid), &end, WEXITED | WNOWAIT) < 0 &&
           errno == EINTR) {
    }
    (end.si_code == CLD_EXITED ? outcome.exit_code : outcome.signal) = end.si_status;
    outcome.reported = dead.received.starts_with(kReportFollows);
    if (outcome.reported) outcome.findings = dead.received.substr(1);
    // Before it is reaped: there is no moment in which peers can't learn how it ended.
    tell_peers(static_cast<int>(rank), outcome);
    waitpid(dead.pid, nullptr, 0);
  }

  void tell_peers(int rank, const RankOutcome& outcome) {
    if (outcome.reported) return;  // its group has said goodbye
    const bool killed = outcome.signal != 0;
    distributed::record_end_of_rank(
        *segment_, rank, killed ? PeerFailure::Cause::killed : PeerFailure::Cause::exited,
        // In the words of those who look for themselves.
        killed ? "was ended by signal " + std::to_string(outcome.signal) + " (" +
                     strsignal(outcome.signal) + ")"
               : "exited with code " + std::to_string(outcome.exit_code),
        killed ? outcome.signal : outcome.exit_code);
  }

  void kill_the_hung() {
    for (std::size_t rank = 0; rank < children_.size(); ++rank) {
      if (children_[rank].pipe < 0 || outcomes_[rank].hung) continue;
      outcomes_[rank].hung = true;
      outcomes_[rank].findings = "hangs;" + activity_of(children_[rank].pid);
    }
    for (const Child& one : children_) {
      if (one.pipe >= 0) kill(one.pid, SIGKILL);
    }
  }

  void kill_all() {
    for (Child& one : children_) {
      if (one.pipe < 0) continue;
      kill(one.pid, SIGKILL);
      waitpid(one.pid, nullptr, 0);
      close(one.pipe);
    }
  }

  std::shared_ptr<shm::Segment> segment_;
  Clock::time_point start_;
  std::vector<Child> children_;
  std::vector<RankOutcome> outcomes_;
};

}  // namespace

WorldResult run_processes(const std::shared_ptr<shm::Segment>& segment, const RankBody& body,
                          const WorldOptions& options) {
  const Clock::time_point start = Clock::now();
  Parent parent(segment, start);
  for (int rank = 0; rank < segment->world_size(); ++rank) {
    parent.child(rank) = start_child(segment, rank, body, options);
  }
  return {parent.watch(start + options.timeout + options.grace)};
}

}  // namespace tensorplay::worlds
