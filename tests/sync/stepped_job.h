// All ranks of a job on one mapping, stepped by one thread, in whatever order is asked for.
#pragma once

#include "tests/sync/stepped_rank.h"

#include "lib/shm/segment.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tensorplay::sync {

class SteppedJob {
 public:
  explicit SteppedJob(const JobPlan& plan);

  // Two machines per rank: the one that calls, and the one that completes.
  int machine_count() const { return 2 * plan_.rank_count; }
  // What went wrong in the step, "" if nothing.
  std::string step(int machine);
  bool done() const;

  // The whole state, of memory and machines: what was saved can be gone on from.
  std::string save() const;
  void restore(const std::string& saved);

 private:
  JobPlan plan_;
  std::shared_ptr<shm::Segment> segment_;
  std::vector<SteppedRank> ranks_;
  std::vector<std::atomic<std::uint64_t>*> atomics_;  // that the job uses
  std::vector<std::uint64_t*> plain_words_;
};

}  // namespace tensorplay::sync
