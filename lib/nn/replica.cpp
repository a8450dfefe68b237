#include "lib/nn/replica.h"

#include <tensorplay/distributed/reduce_op.h>

#include <cstdint>
#include <span>
#include <utility>

namespace tensorplay::nn {

namespace {

using distributed::ProcessGroup;
using distributed::ReduceOp;
using parallel::DistributedDataParallelOptions;

ModelTensors agreed(ModelTensors model, const ProcessGroup& group,
                    const DistributedDataParallelOptions& options) {
  model.expect_equal_lengths();
  expect_equal_outlines(model.outline(options), group);
  return model;
}

}  // namespace

Replica::Replica(ModelTensors model, const ProcessGroup& group,
                 DistributedDataParallelOptions options)
    : model_(agreed(std::move(model), group, options)),
      group_(group),
      options_(std::move(options)),
      buffers_(model_.buffers, group_),
      gradients_(model_.parameters, options_.bucket_bytes, group_) {
  model_.broadcast(group_, 0);
}

void Replica::begin_iteration() {
  sync_buffers_if_due();
  gradients_.begin(!no_sync_);
}

void Replica::end_iteration() {
  if (gradients_.finish(divisor_)) buffers_due_ = true;
}

void Replica::shadow_iteration() {
  gradients_.settle();
  sync_buffers_if_due();
  if (!gradients_.shadow(divisor_)) return;
  buffers_due_ = true;
  if (options_.on_shadowed_iteration) options_.on_shadowed_iteration();
}

void Replica::take_final_model(bool is_last_joiner) {
  gradients_.settle();
  std::int32_t rank = is_last_joiner ? group_.rank() : -1;
  group_.all_reduce(std::span(&rank, 1), ReduceOp::max);
  authoritative_rank_ = rank;
  model_.broadcast(group_, rank);
  // The ranks ended in different iterations; from here on they agree again.
  buffers_due_ = true;
}

bool Replica::set_no_sync(bool no_sync) noexcept {
  return std::exchange(no_sync_, no_sync);
}

void Replica::sync_buffers_if_due() {
  if (options_.broadcast_buffers && buffers_due_) buffers_.run();
  buffers_due_ = false;
}

}  // namespace tensorplay::nn
