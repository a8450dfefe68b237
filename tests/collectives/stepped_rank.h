// One rank of a schedule: what it has started and not yet found completed.
#pragma once

#include "tests/collectives/draws.h"
#include "tests/conformance/operation.h"

#include "lib/shm/layout.h"

#include <tensorplay/distributed/process_group.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tensorplay::conformance {

class SteppedRank {
 public:
  // More than may be posted, so that some wait in the engine's queue.
  static constexpr std::size_t kStartedMax = 3 * shm::kOperationsInFlight;

  // Whom an operation of that number should have as contributors, asked once it has completed.
  using ContributorsOf = std::function<Contributors(std::uint64_t number)>;

  SteppedRank(ProcessGroup group, const std::vector<Case>& cases, ContributorsOf contributors_of);

  bool done() const { return started_ == cases_.size() && under_way_.empty(); }
  bool can_start() const { return started_ < cases_.size() && under_way_.size() < kStartedMax; }

  void start();
  // Lets everything of this rank advance, and checks one operation if it has completed. What it
  // took part in is destroyed then: a peer that still needs it would read something else. A root
  // that doesn't contribute must have made it end by PeerFailure; any other failure is passed on.
  // What is wrong, "" if nothing.
  std::string look_at_one(Draws& draws);

  // The number of the last operation that this rank has posted.
  std::uint64_t last_posted() const;

 private:
  struct Started {
    std::size_t index;
    std::unique_ptr<Operation> operation;
  };

  std::string check(Started ended) const;

  ProcessGroup group_;
  const std::vector<Case>& cases_;
  ContributorsOf contributors_of_;
  std::size_t started_ = 0;
  std::vector<Started> under_way_;
};

// The number of the last operation posted by the owner of these words.
std::uint64_t last_posted(const shm::MemberBlock& member);

}  // namespace tensorplay::conformance
