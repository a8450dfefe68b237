// All ranks of a job on one mapping, stepped by one thread, in whatever order is asked for.
#pragma once

#include "tests/sync/job_plan.h"
#include "tests/sync/model.h"
#include "tests/sync/stepped_rank.h"

#include "lib/shm/segment.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tensorplay::sync {

// Two machines per rank: the one that calls, and the one that completes. After those, one per
// mortal rank, whose step is the death.
class SteppedJob final : public Model {
 public:
  explicit SteppedJob(const JobPlan& plan);
  SteppedJob(const SteppedJob&) = delete;
  SteppedJob& operator=(const SteppedJob&) = delete;

  int machine_count() const override;
  std::string machine_name(int machine) const override;
  bool is_fault(int machine) const override { return machine >= 2 * plan_.rank_count; }
  std::string step(int machine) override;
  bool done() const override;
  std::string save() const override;
  void restore(const std::string& saved) override;

 private:
  int mortal(int machine) const {
    return plan_.mortals[static_cast<std::size_t>(machine - 2 * plan_.rank_count)];
  }
  bool out_of_it(std::size_t rank) const {
    return ranks_[rank].done() || chronicle_.dead[rank] != 0;
  }

  JobPlan plan_;
  std::shared_ptr<shm::Segment> segment_;
  Chronicle chronicle_;
  std::vector<SteppedRank> ranks_;
  std::vector<std::atomic<std::uint64_t>*> atomics_;  // that the job uses
  std::vector<std::uint64_t*> plain_words_;
};

}  // namespace tensorplay::sync
