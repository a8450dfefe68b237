#include "tools/tprun/launch.h"

#include "lib/base/seconds_text.h"
#include "lib/distributed/end_notice.h"
#include "lib/distributed/job_name.h"
#include "lib/distributed/leftovers.h"
#include "tools/tprun/process_group.h"

#include <tensorplay/error.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <utility>

namespace tensorplay::tprun {
namespace {

using multiprocessing::FileDescriptor;
using multiprocessing::Pipe;

// How often to look whether what the programs have left behind is gone: nothing tells.
constexpr std::chrono::milliseconds kGroupInterval{20};

// How often to look whether those who may wait for a rank that has ended have made their segment:
// likewise.
constexpr std::chrono::milliseconds kNoticeInterval{50};

bool are_same_file(int one, int other) {
  struct stat a, b;
  return ::fstat(one, &a) == 0 && ::fstat(other, &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

FileDescriptor open_null() {
  FileDescriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null.is_open()) throw std::system_error(errno, std::generic_category(), "/dev/null");
  return null;
}

}  // namespace

Launch::Launch(const Settings& settings)
    : settings_(settings),
      cpus_(bind_ranks(settings.bind_to, settings.ranks)),
      output_(STDOUT_FILENO),
      error_(STDERR_FILENO),
      error_sink_(are_same_file(STDOUT_FILENO, STDERR_FILENO) ? &output_ : &error_),
      verdict_(settings.on_peer_failure) {
  try {
    for (int rank = 0; rank < settings_.ranks; ++rank) start_rank(rank);
  } catch (...) {
    signal_all(SIGKILL);
    for (const RankProcess& rank : ranks_) rank.reap();
    distributed::remove_leftovers();
    throw;
  }
}

Launch::~Launch() {
  signal_all(SIGKILL);
  for (const RankProcess& rank : ranks_) rank.reap();
  // Also this job's, if its ranks were ended before all had come; not that of another job of the
  // same name, which lives.
  distributed::remove_leftovers();
}

void Launch::start_rank(int rank) {
  RankStreams streams;
  streams.input = input_of(rank);
  const cpu_set_t* cpus = cpus_.empty() ? nullptr : &cpus_[static_cast<std::size_t>(rank)];
  if (!settings_.prefix) {
    ranks_.push_back(RankProcess::start(settings_, rank, streams, signals_, cpus));
    return;
  }
  Pipe output = multiprocessing::make_pipe();
  Pipe error = multiprocessing::make_pipe();
  streams.output = output.write_end.get();
  streams.error = error.write_end.get();
  ranks_.push_back(RankProcess::start(settings_, rank, streams, signals_, cpus));
  const std::string prefix = "[" + std::to_string(rank) + "] ";
  relays_.emplace_back(std::move(output.read_end), prefix, output_);
  relays_.emplace_back(std::move(error.read_end), prefix, *error_sink_);
}

// Output that was lost isn't a success.
int Launch::exit_code() const {
  if (verdict_.exit_code() != 0 || output_.lost_by() == 0) return verdict_.exit_code();
  const std::string text = std::string("tprun: the ranks' output couldn't be written: ") +
                           std::strerror(output_.lost_by()) + "\n";
  static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
  return 1;
}

int Launch::input_of(int rank) {
  if (rank != 0) {
    rank_input_ = open_null();
  } else if (::isatty(STDIN_FILENO)) {
    Pipe pipe = multiprocessing::make_pipe();
    input_.emplace(std::move(pipe.write_end));
    rank_input_ = std::move(pipe.read_end);
  }
  return rank_input_.get();
}

int Launch::run() {
  rank_input_.close();
  while (!is_over()) {
    PollSet set;
    watch(set);
    set.wait(poll_timeout_ms());
    advance();
  }
  return exit_code();
}

void Launch::watch(PollSet& set) {
  set.add(signals_.descriptor(), POLLIN, [this] { obey_signal(); });
  for (RankProcess& rank : ranks_) {
    if (!rank.end()) set.add(rank.descriptor(), POLLIN, [this, &rank] { note_end(rank); });
  }
  watch_streams(set);
}

void Launch::watch_streams(PollSet& set) {
  for (LineRelay& relay : relays_) {
    if (relay.wants_to_read()) set.add(relay.descriptor(), POLLIN, [&relay] { relay.read_some(); });
  }
  for (Output* output : {&output_, &error_}) {
    if (!output->is_empty()) {
      set.add(output->descriptor(), POLLOUT, [output] { output->write_some(); });
    }
  }
  if (!input_) return;
  if (input_->wants_to_read()) set.add(STDIN_FILENO, POLLIN, [this] { input_->read_some(); });
  if (input_->wants_to_write()) set.add(input_->sink(), POLLOUT, [this] { input_->write_some(); });
}

void Launch::note_end(RankProcess& rank) {
  rank.note_end();
  if (kill_at_) return;
  verdict_.note_end(rank.rank(), rank.pid(), *rank.end(), Clock::now());
  if (others_go_on() && !rank.end()->is_success()) tell_loss(rank);
}

bool Launch::others_go_on() const {
  return settings_.on_peer_failure == distributed::PeerFailurePolicy::continue_without;
}

void Launch::tell_loss(const RankProcess& rank) {
  error_sink_->append("tprun: rank " + std::to_string(rank.rank()) + " (pid " +
                      std::to_string(rank.pid()) + ") " + rank.end()->text() +
                      (all_ended() ? "\n" : "; the others go on\n"));
}

// Who has not come and has ended is waited for in vain. Again and again: who comes late may have
// made another segment. Peers that have met see for themselves who ends.
void Launch::notify_peers() const {
  const distributed::JobIdentity job{settings_.job, distributed::launch_from(settings_.launch)};
  for (const RankProcess& rank : ranks_) {
    if (!rank.end()) continue;
    const bool killed = rank.end()->how == multiprocessing::ProcessEnd::How::killed;
    const auto cause = killed ? PeerFailure::Cause::killed : PeerFailure::Cause::exited;
    if (!distributed::notify_end(job, rank.rank(), cause, rank.end()->text())) return;
  }
}

void Launch::end_standing(Clock::time_point now) {
  std::vector<pid_t> pids;
  for (const RankProcess& rank : ranks_) {
    if (!rank.end()) pids.push_back(rank.pid());
  }
  const auto duration = standstill_.look(pids, now);
  if (!duration || *duration < settings_.stopped_grace) return;
  for (const RankProcess& rank : ranks_) {
    if (rank.end()) continue;
    error_sink_->append("tprun: rank " + std::to_string(rank.rank()) + " (pid " +
                        std::to_string(rank.pid()) + ") has been stopped for " +
                        seconds_text(*duration) +
                        " s while no other rank was running; ending it by SIGKILL\n");
    rank.signal_group(SIGKILL);
  }
}

void Launch::obey_signal() {
  const int signal = signals_.take();
  if (signal == 0) return;
  if (signal == SIGCONT || signal == SIGTSTP) {
    // As one job of the shell: all stop, and all go on.
    signal_all(signal);
    if (signal == SIGTSTP) ::raise(SIGSTOP);
  } else if (kill_at_) {
    hurry();
  } else {
    verdict_.note_signal(signal);
    announce("; ending the ranks");
    begin_ending(signal);
  }
}

// A second signal: somebody doesn't want to wait, perhaps since it is our reader who doesn't read.
void Launch::hurry() {
  signal_all(SIGKILL);
  is_killed_ = true;
  output_.give_up();
  error_.give_up();
}

// What follows from what has happened and from the time that has passed.
void Launch::advance() {
  const Clock::time_point now = Clock::now();
  const bool ended = all_ended();
  if (!ended && some_ended()) {
    notify_peers();
    if (others_go_on() && !kill_at_) end_standing(now);
  }
  if (!kill_at_ && verdict_.decide(ended, now)) {
    if (!others_go_on()) announce(ended ? "" : "; ending the other ranks");
    begin_ending(SIGTERM);
  }
  if (ended && !is_nobody_left_) look_for_leftovers();
  if (kill_at_ && !is_killed_ && now >= *kill_at_) {
    signal_all(SIGKILL);
    is_killed_ = true;
  }
  if (is_nobody_left_) drain();
}

void Launch::look_for_leftovers() {
  std::vector<pid_t> groups;
  for (const RankProcess& rank : ranks_) groups.push_back(rank.pid());
  is_nobody_left_ = !any_group_lives(groups);
  if (is_nobody_left_) return;
  if (!kill_at_) {
    begin_ending(SIGTERM);
  } else if (std::exchange(ending_signal_, SIGTERM) != SIGTERM) {
    signal_all(SIGTERM);  // what a shell runs in the background ignores SIGINT
  }
}

void Launch::announce(const std::string& consequence) {
  error_sink_->append("tprun: " + verdict_.text() + consequence + "\n");
}

void Launch::begin_ending(int signal) {
  signal_all(signal);
  signal_all(SIGCONT);  // a stopped rank hears of it only when it goes on
  ending_signal_ = signal;
  kill_at_ = Clock::now() + settings_.grace;
}

void Launch::signal_all(int signal) const {
  for (const RankProcess& rank : ranks_) rank.signal_group(signal);
}

// Nobody writes any more but who has left the groups, for whom nobody waits.
void Launch::drain() {
  for (LineRelay& relay : relays_) {
    while (relay.wants_to_read() && relay.read_some()) {
    }
    if (relay.wants_to_read()) relay.close();
  }
}

bool Launch::is_over() const {
  const auto is_open = [](const LineRelay& relay) { return relay.is_open(); };
  return is_nobody_left_ && std::none_of(relays_.begin(), relays_.end(), is_open) &&
         output_.is_empty() && error_.is_empty();
}

bool Launch::all_ended() const {
  return std::all_of(ranks_.begin(), ranks_.end(),
                     [](const RankProcess& rank) { return rank.end().has_value(); });
}

bool Launch::some_ended() const {
  return std::any_of(ranks_.begin(), ranks_.end(),
                     [](const RankProcess& rank) { return rank.end().has_value(); });
}

int Launch::poll_timeout_ms() const {
  std::optional<Clock::time_point> next = verdict_.due();
  const auto consider = [&next](Clock::time_point time) {
    next = next ? std::min(*next, time) : time;
  };
  const Clock::time_point now = Clock::now();
  if (kill_at_ && !is_killed_) consider(*kill_at_);
  if (all_ended() && !is_nobody_left_) consider(now + kGroupInterval);
  if (!all_ended() && some_ended()) consider(now + kNoticeInterval);
  if (!next) return -1;
  // Rounded up: a poll that ends just before its time would be followed by many more.
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - now).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 60'000));
}

}  // namespace tensorplay::tprun
