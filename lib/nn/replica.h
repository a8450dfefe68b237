// One rank's copy of a model, and what keeps it equal to the others'.
#pragma once

#include "lib/distributed/vault_reservation.h"
#include "lib/nn/buffer_sync.h"
#include "lib/nn/gradient_reducer.h"
#include "lib/nn/model_tensors.h"

#include <tensorplay/distributed/process_group.h>
#include <tensorplay/nn/parallel/distributed_data_parallel.h>

#include <cstdint>
#include <functional>

namespace tensorplay::nn {

class Replica {
 public:
  // Collective, as DistributedDataParallel's constructor.
  Replica(ModelTensors model, const distributed::ProcessGroup& group,
          parallel::DistributedDataParallelOptions options);

  // An iteration of an active rank, apart from notifying Join. `expect_finished` comes first, so
  // that a misuse announces nothing.
  void expect_finished() const { gradients_.expect_finished(); }
  void begin_iteration();
  void mark(std::size_t parameter, GradientMark mark, const char* caller) {
    gradients_.mark(parameter, mark, caller);
  }
  void end_iteration();

  // Those of a joined rank in step.
  void shadow_iteration();

  // A Join context: the divisor holds from its beginning to its end.
  void enter_context(Divisor divisor) noexcept {
    divisor_ = divisor;
    uses_ = 0;
  }
  void leave_context() noexcept { divisor_ = Divisor::world_size; }
  // Collective: takes over the model of the greatest rank that was among the last joiners; should
  // all of those be dead, of one that was active longest.
  void take_final_model(bool is_last_joiner);

  bool set_no_sync(bool no_sync) noexcept;
  const BucketPlan& plan() const noexcept { return gradients_.plan(); }
  int authoritative_rank() const noexcept { return authoritative_rank_; }
  std::uint64_t checksum() const noexcept { return model_.checksum(); }
  distributed::ProcessGroup& group() noexcept { return group_; }

 private:
  void sync_buffers_if_due();
  int rank_with_final_model(bool is_last_joiner);
  int broadcast_from(const std::function<int()>& choose_root);

  ModelTensors model_;
  distributed::ProcessGroup group_;  // whose calls a Join context knows as those of this model
  parallel::DistributedDataParallelOptions options_;
  BufferSync buffers_;
  GradientReducer gradients_;
  distributed::VaultReservation vaults_;

  bool no_sync_ = false;
  // Whether gradients were reduced since buffers were synchronised last. Active ranks and joined
  // ones in step see the same reductions, so they agree on when the next forward() carries buffers.
  bool buffers_due_ = true;
  Divisor divisor_ = Divisor::world_size;
  int authoritative_rank_ = -1;
  std::int64_t uses_ = 0;  // iterations that this rank began in the context
};

}  // namespace tensorplay::nn
