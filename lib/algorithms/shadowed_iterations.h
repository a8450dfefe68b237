// The main hooks of a joined rank in step: run once for each iteration of the active ranks.
#pragma once

#include "lib/algorithms/follower.h"

#include <tensorplay/distributed/algorithms/join_hook.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace tensorplay::distributed::algorithms {

// Runs the hooks in list order; one that has to supply what the active ranks receive next is run
// before its turn. Each runs once per iteration.
class ShadowedIterations final : public HookRunner {
 public:
  // `board` has joined, in step; it and the hooks outlive this.
  ShadowedIterations(const JoinBoard& board, const std::vector<std::unique_ptr<JoinHook>>& hooks)
      : hooks_(hooks), engine_(board.engine()), follower_(board, *this) {}

  // Until all ranks have joined. Passes on what a hook throws.
  void run();

 private:
  bool run(std::uint16_t tag) override;

  const std::vector<std::unique_ptr<JoinHook>>& hooks_;
  GroupEngine& engine_;
  Follower follower_;
  std::vector<bool> has_run_;  // in this iteration, by place in the list
};

}  // namespace tensorplay::distributed::algorithms
