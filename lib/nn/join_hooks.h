// What a DistributedDataParallel does for a rank that has joined.
#pragma once

#include "lib/nn/replica.h"

#include <tensorplay/distributed/algorithms/join_hook.h>

namespace tensorplay::nn {

// Takes over the final model when all have joined. Before that a joined rank sleeps.
class FinalModelHook : public distributed::algorithms::JoinHook {
 public:
  FinalModelHook(Replica& replica, Divisor divisor);
  ~FinalModelHook() override;
  void post_hook(bool is_last_joiner) override;

 protected:
  Replica& replica() noexcept { return replica_; }

 private:
  void leave() noexcept;

  Replica& replica_;
  bool in_context_ = true;
};

// Also keeps the replica in step with the others' iterations.
class FollowingHook : public FinalModelHook {
 public:
  using FinalModelHook::FinalModelHook;
  void main_hook() override { replica().shadow_iteration(); }
};

}  // namespace tensorplay::nn
