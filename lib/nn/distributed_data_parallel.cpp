#include <tensorplay/nn/parallel/distributed_data_parallel.h>

#include "lib/nn/join_hooks.h"
#include "lib/nn/replica.h"

#include <tensorplay/distributed/algorithms/join.h>

#include <utility>

namespace tensorplay::nn::parallel {

using distributed::ProcessGroup;
using distributed::algorithms::Join;
using distributed::algorithms::JoinHook;
using distributed::algorithms::JoinKwargs;

DistributedDataParallel::DistributedDataParallel(std::vector<Parameter> parameters,
                                                 const ProcessGroup& group,
                                                 DistributedDataParallelOptions options)
    : DistributedDataParallel(std::move(parameters), {}, group, std::move(options)) {}

DistributedDataParallel::DistributedDataParallel(std::vector<Parameter> parameters,
                                                 std::vector<Buffer> buffers,
                                                 const ProcessGroup& group,
                                                 DistributedDataParallelOptions options)
    : replica_(std::make_unique<Replica>(ModelTensors{std::move(parameters), std::move(buffers)},
                                         group, std::move(options))) {}

DistributedDataParallel::~DistributedDataParallel() = default;

void DistributedDataParallel::forward() {
  replica_->expect_finished();
  Join::notify_join_context(*this);
  replica_->begin_iteration();
}

void DistributedDataParallel::gradient_ready(std::size_t index) {
  replica_->mark(index, GradientMark::ready, "gradient_ready");
}

void DistributedDataParallel::gradient_unused(std::size_t index) {
  replica_->mark(index, GradientMark::unused, "gradient_unused");
}

void DistributedDataParallel::synchronize() {
  replica_->end_iteration();
}

DistributedDataParallel::NoSync::NoSync(DistributedDataParallel& model) noexcept
    : model_(model), before_(model.replica_->set_no_sync(true)) {}

DistributedDataParallel::NoSync::~NoSync() {
  model_.replica_->set_no_sync(before_);
}

std::vector<std::vector<std::size_t>> DistributedDataParallel::buckets() const {
  std::vector<std::vector<std::size_t>> result;
  for (const Bucket& bucket : replica_->plan().buckets) {
    std::vector<std::size_t>& parameters = result.emplace_back();
    for (const BucketSlot& slot : bucket.slots) parameters.push_back(slot.parameter);
  }
  return result;
}

int DistributedDataParallel::authoritative_rank() const noexcept {
  return replica_->authoritative_rank();
}

std::uint64_t DistributedDataParallel::checksum() const noexcept {
  return replica_->checksum();
}

std::unique_ptr<JoinHook> DistributedDataParallel::join_hook(const JoinKwargs& kwargs) {
  const bool by_size = kwargs.get("divide_by_initial_world_size", true);
  const bool follow = kwargs.get("follow", false);
  const Divisor divisor = by_size ? Divisor::world_size : Divisor::contributors;
  if (follow) return std::make_unique<FollowingHook>(*replica_, divisor);
  return std::make_unique<FinalModelHook>(*replica_, divisor);
}

ProcessGroup& DistributedDataParallel::join_process_group() {
  return replica_->group();
}

}  // namespace tensorplay::nn::parallel
