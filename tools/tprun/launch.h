// A job from its start to its end: ranks, their output, signals, and what ends it all.
#pragma once

#include "lib/multiprocessing/standstill.h"
#include "tools/tprun/binding.h"
#include "tools/tprun/line_relay.h"
#include "tools/tprun/output.h"
#include "tools/tprun/poll_set.h"
#include "tools/tprun/rank_process.h"
#include "tools/tprun/settings.h"
#include "tools/tprun/signal_inbox.h"
#include "tools/tprun/stdin_relay.h"
#include "tools/tprun/verdict.h"

#include <chrono>
#include <deque>
#include <optional>
#include <vector>

namespace tensorplay::tprun {

// Owns all processes of the job; at its end none is left, nor a name in /dev/shm. One thread.
//
// The ranks run until all of them have ended. The first failure (unless the others are to go on),
// or a signal to tprun, makes it end them: their groups get SIGTERM, or that same signal, and
// SIGKILL when the grace is over or another signal comes. What programs leave running in their
// groups is ended the same way.
//
// Where the others go on nobody is ended, but for ranks that stay stopped when all others have
// ended: they would never end by themselves.
class Launch {
 public:
  // Starts the ranks. Throws ProgramError, BindingError, std::system_error; ranks already started
  // are killed then.
  explicit Launch(const Settings& settings);
  ~Launch();
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  // Returns the exit code of tprun when all is over.
  int run();

 private:
  using Clock = std::chrono::steady_clock;

  void start_rank(int rank);
  int exit_code() const;
  int input_of(int rank);
  void watch(PollSet& set);
  void watch_streams(PollSet& set);
  void note_end(RankProcess& rank);
  void obey_signal();
  void hurry();
  void advance();
  bool others_go_on() const;
  void tell_loss(const RankProcess& rank);
  void notify_peers() const;
  void end_standing(Clock::time_point now);
  void announce(const std::string& consequence);
  void begin_ending(int signal);
  void signal_all(int signal) const;
  void look_for_leftovers();
  void drain();
  bool is_over() const;
  bool all_ended() const;
  bool some_ended() const;
  int poll_timeout_ms() const;

  const Settings& settings_;
  std::vector<cpu_set_t> cpus_;  // by rank; empty if the ranks aren't bound
  SignalInbox signals_;
  Output output_;
  Output error_;
  Output* error_sink_;  // output_ if both are the same file: one queue keeps the order
  std::deque<RankProcess> ranks_;
  std::vector<LineRelay> relays_;
  std::optional<StdinRelay> input_;
  multiprocessing::FileDescriptor rank_input_;  // to be inherited by the rank that is being started
  Verdict verdict_;
  multiprocessing::Standstill standstill_;
  std::optional<Clock::time_point> kill_at_;  // set when ending has begun
  int ending_signal_ = 0;                     // the one that was sent then
  bool is_killed_ = false;
  bool is_nobody_left_ = false;  // no rank, and nobody whom a program has started
};

}  // namespace tensorplay::tprun
