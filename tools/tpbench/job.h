// A job that is measured: processes that share a rig with tpbench, asleep while they have no order.
#pragma once

#include "lib/multiprocessing/process_handle.h"
#include "tools/tpbench/rig.h"
#include "tools/tpbench/statistics.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tensorplay::tpbench {

// The job's launcher is a child of this process, killed with it: a fork that starts the ranks, or a
// peer's mpirun. Ends the job when it is destroyed: asks it to leave, waits, and only then ends it
// by SIGTERM, and then by SIGKILL, telling so on stderr.
//
// Made when all ranks are there, so that no two jobs start at once: two of Open MPI's mpirun would
// be in each other's way. Throws as samples().
class Job {
 public:
  // Forks; the child runs `launch`, which returns when all ranks have left, and ends. What it
  // throws is told on stderr, as the last resort.
  Job(std::string name, int ranks, const std::function<void(Rig&)>& launch);
  // Forks and executes what `command` says for the path of a rig. What the program writes is kept,
  // and told if it fails.
  Job(std::string name, int ranks,
      const std::function<std::vector<std::string>(const std::string& rig_path)>& command,
      const std::vector<std::string>& environment);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job();

  const std::string& name() const noexcept { return name_; }
  int ranks() const noexcept { return rig_.memory().ranks; }

  // Has all ranks perform the order. Gives the samples, each the slowest rank's. Throws Error if a
  // rank fails, the job ends, or nothing comes for two minutes: the job can't be used any more.
  std::vector<double> samples(const Order& order);
  Summary perform(const Order& order) { return summarise(samples(order)); }

 private:
  void start(const std::function<void()>& child);
  void end() noexcept;
  void await();
  [[noreturn]] void fail(const std::string& what);
  bool has_ended() const;
  std::string output() const;

  std::string name_;
  Rig rig_;
  multiprocessing::FileDescriptor output_;  // of a program; closed for a fork
  std::optional<multiprocessing::ProcessHandle> process_;
  bool has_failed_ = false;
};

}  // namespace tensorplay::tpbench
