#include "lib/multiprocessing/run_children.h"

#include "lib/multiprocessing/standstill.h"

#include <tensorplay/error.h>

#include <poll.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>
#include <system_error>
#include <vector>

namespace tensorplay::multiprocessing {
namespace {

using Clock = std::chrono::steady_clock;

// The children of one call. Kills and reaps those that still live at its end.
class Children {
 public:
  explicit Children(const RunChildrenOptions& options) : options_(options) {}
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  ~Children();

  void start(int count, const std::function<void(int)>& body);
  std::optional<ChildFailure> wait();

 private:
  struct Member {
    int rank;
    Child child;
    std::optional<std::chrono::nanoseconds> stopped_for = std::nullopt;  // when it was killed
  };

  void open_gate(Pipe& gate) const;
  void wait_for_an_end();
  void collect_ended(const std::vector<pollfd>& entries);
  void note(const Member& member, const ChildEnd& end);
  Weight weight_of(const ChildEnd& end) const;
  void press_on();
  bool watches_for_standstill() const;
  void end_standing();
  int poll_timeout_ms() const;

  const RunChildrenOptions& options_;
  int count_ = 0;
  std::vector<Member> living_;
  FirstFailure first_failure_;
  Standstill standstill_;
  std::optional<Clock::time_point> deadline_;  // of the next signal, once one has failed
  int next_signal_ = SIGTERM;
};

Children::~Children() {
  for (Member& member : living_) member.child.process().signal(SIGKILL);
  for (Member& member : living_) member.child.process().reap();
}

void Children::start(int count, const std::function<void(int)>& body) {
  count_ = count;
  living_.reserve(static_cast<std::size_t>(count));
  const auto close_inherited = [this] {
    for (Member& member : living_) member.child.close_descriptors();
  };
  int rank = 0;
  try {
    Pipe gate = make_pipe();
    for (; rank < count; ++rank) {
      living_.push_back({rank, Child(
                                   gate, [&body, rank] { body(rank); }, close_inherited)});
    }
    open_gate(gate);
  } catch (const std::system_error& error) {
    throw Error("can't start rank " + std::to_string(rank) + " of " + std::to_string(count) + ": " +
                error.what());
  }
}

// One byte for each. The pipe holds them all: they are fewer than it has room for.
void Children::open_gate(Pipe& gate) const {
  const std::string bytes(static_cast<std::size_t>(count_), '.');
  ssize_t written;
  do {
    written = ::write(gate.write_end.get(), bytes.data(), bytes.size());
  } while (written < 0 && errno == EINTR);
  if (written < 0) throw std::system_error(errno, std::generic_category(), "write");
}

std::optional<ChildFailure> Children::wait() {
  while (!living_.empty()) wait_for_an_end();
  return first_failure_.result();
}

void Children::wait_for_an_end() {
  std::vector<pollfd> entries;
  entries.reserve(living_.size());
  for (const Member& member : living_) {
    entries.push_back({member.child.process().descriptor(), POLLIN, 0});
  }
  const int ready = ::poll(entries.data(), entries.size(), poll_timeout_ms());
  if (ready > 0) collect_ended(entries);
  if (ready < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "poll");
  press_on();
  end_standing();
}

void Children::collect_ended(const std::vector<pollfd>& entries) {
  std::size_t index = 0;
  std::erase_if(living_, [&](Member& member) {
    if (entries[index++].revents == 0) return false;
    ChildEnd end = member.child.collect();
    end.stopped_for = member.stopped_for;
    note(member, end);
    member.child.process().reap();
    return true;
  });
}

void Children::note(const Member& member, const ChildEnd& end) {
  if (end.is_failure()) {
    const std::string who = "rank " + std::to_string(member.rank) + " of " +
                            std::to_string(count_) + " (pid " + std::to_string(member.child.pid()) +
                            ") ";
    first_failure_.note({member.rank, end.exit_code(), who + end.text()}, weight_of(end));
    if (!deadline_ && !options_.others_go_on) deadline_ = Clock::now() + options_.grace;
  } else {
    first_failure_.note_success();
  }
  if (options_.on_end) options_.on_end(member.rank, end);
}

Weight Children::weight_of(const ChildEnd& end) const {
  const bool after_signal = next_signal_ != SIGTERM;
  if (end.is_consequence() || after_signal) return Weight::consequence;
  const bool is_lost = options_.others_go_on && end.process.how == ProcessEnd::How::killed;
  return is_lost ? Weight::loss : Weight::original;
}

// SIGTERM when the grace after the first failure is over, SIGKILL when it is over again.
void Children::press_on() {
  if (!deadline_ || Clock::now() < *deadline_) return;
  for (const Member& member : living_) member.child.process().signal(next_signal_);
  deadline_ = next_signal_ == SIGTERM ? *deadline_ + options_.grace : Clock::time_point::max();
  next_signal_ = SIGKILL;
}

bool Children::watches_for_standstill() const {
  return options_.others_go_on && !living_.empty() &&
         living_.size() < static_cast<std::size_t>(count_);
}

void Children::end_standing() {
  if (!watches_for_standstill()) return;
  std::vector<pid_t> pids;
  for (const Member& member : living_) pids.push_back(member.child.pid());
  const auto duration = standstill_.look(pids, Clock::now());
  if (!duration || *duration < options_.stopped_grace) return;
  for (Member& member : living_) {
    member.stopped_for = duration;
    member.child.process().signal(SIGKILL);
  }
}

// Rounded up: a poll that ends just before the deadline would be followed by many more.
int Children::poll_timeout_ms() const {
  if (watches_for_standstill()) return static_cast<int>(Standstill::kInterval.count());
  if (!deadline_) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline_ - Clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 60'000));
}

}  // namespace

std::optional<ChildFailure> run_children(int count, const std::function<void(int rank)>& body,
                                         const RunChildrenOptions& options) {
  Children children(options);
  children.start(count, body);
  return children.wait();
}

}  // namespace tensorplay::multiprocessing
