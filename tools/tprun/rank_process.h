// One rank: a program in a process group of its own.
#pragma once

#include "lib/multiprocessing/file_descriptor.h"
#include "lib/multiprocessing/process_end.h"
#include "lib/multiprocessing/process_handle.h"
#include "tools/tprun/settings.h"
#include "tools/tprun/signal_inbox.h"

#include <sched.h>
#include <optional>
#include <system_error>

namespace tensorplay::tprun {

// The program can't be executed; the code tells why.
class ProgramError : public std::system_error {
 public:
  using std::system_error::system_error;
};

// What a rank's standard streams become. Not owned; -1: it inherits tprun's.
struct RankStreams {
  int input = -1;
  int output = -1;
  int error = -1;
};

// Its process group is what signals go to: processes that the program has started get them, too.
// The program is killed when tprun ends, whatever ends it.
class RankProcess {
 public:
  // Returns when the program runs, on the CPUs in `cpus` if it isn't null. Throws ProgramError, or
  // std::system_error if there can't be another process.
  static RankProcess start(const Settings& settings, int rank, const RankStreams& streams,
                           const SignalInbox& signals, const cpu_set_t* cpus);

  int rank() const noexcept { return rank_; }
  pid_t pid() const noexcept { return process_.pid(); }
  // Readable from the end of the program on.
  int descriptor() const noexcept { return process_.descriptor(); }

  // How it ended, once note_end() has been called. Until reap() it stays a zombie: the number of
  // its group is nobody else's as long as signals may be sent there.
  const std::optional<multiprocessing::ProcessEnd>& end() const noexcept { return end_; }
  void note_end() noexcept { end_ = process_.end_without_reaping(); }
  void reap() const noexcept { process_.reap(); }

  // To the program and to what it has started.
  void signal_group(int signal) const noexcept;

 private:
  RankProcess(int rank, pid_t pid) : rank_(rank), process_(pid) {}

  int rank_;
  multiprocessing::ProcessHandle process_;
  std::optional<multiprocessing::ProcessEnd> end_;
};

}  // namespace tensorplay::tprun
