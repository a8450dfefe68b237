// A run of the benchmark: the jobs of one number of ranks, and their points one after the other.
#pragma once

#include "tools/tpbench/interleaving.h"
#include "tools/tpbench/job.h"
#include "tools/tpbench/result.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace tensorplay::tpbench {

struct CampaignSettings {
  int repeats = 5;
  std::size_t samples = 0;  // of each contestant in each repeat; 0: as many as fit into the budget
  double budget_s = 0.05;   // of each contestant in each repeat
  Start start = Start::automatic;
  std::vector<std::string> peers = {};
  std::string peer_folder = {};  // of their programs
  std::size_t bytes_most = 0;    // the greatest size that is going to be asked for
  InterleavingOptions interleaving = {};
};

// Ours, the peers and the processes that measure the limits: all started once, asleep while it's
// another one's turn.
class Campaign {
 public:
  // Throws InvalidArgument for a peer that can't be measured here, and Error.
  Campaign(int ranks, const CampaignSettings& settings);

  // Measures a point with our buffers in each of `memories`, beside the peers that know it. Throws
  // Error: a wrong result, a rank that ended.
  PointResult measure(Point point, const std::vector<Memory>& memories);
  // Measures ours for each element type in turns: each a contestant by the name of its type.
  PointResult compare_types(Point point, const std::vector<DType>& types);

 private:
  // A contestant's job and its point.
  struct Entry {
    Job* job;
    Point point;
  };
  void run(const std::vector<Entry>& entries, PointResult& result);
  Order order_of(const Point& point, bool verify) const;
  double median_of_task(Task task, const Point& point, double budget_s, bool streaming = false);
  double probe_line();
  double least_of_task(Task task);
  void measure_switches();
  double hand_over(const Point& point);
  void measure_limits(const Point& point, std::vector<double>& copies,
                      std::vector<double>& hand_overs);

  CampaignSettings settings_;
  int ranks_;
  int cpus_;
  std::unique_ptr<Job> limits_;
  std::unique_ptr<Job> ours_;
  std::vector<std::unique_ptr<Job>> peers_;
  Limits fixed_;  // those that depend on no point
};

// The CPUs that this process may use.
int usable_cpu_count();

}  // namespace tensorplay::tpbench
