#include "lib/nn/replica.h"

#include "lib/base/fault_point.h"

#include <tensorplay/distributed/reduce_op.h>
#include <tensorplay/error.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tensorplay::nn {

namespace {

using distributed::CollectiveCall;
using distributed::CollectiveKind;
using distributed::ProcessGroup;
using distributed::ReduceOp;
using parallel::DistributedDataParallelOptions;

ModelTensors agreed(ModelTensors model, const ProcessGroup& group,
                    const DistributedDataParallelOptions& options) {
  model.expect_equal_lengths();
  expect_equal_outlines(model.outline(options), group);
  return model;
}

// What can be sent at once: a bucket of gradients, a tensor of the model, or all buffers.
std::vector<CollectiveCall> largest_calls(const ModelTensors& model,
                                          const GradientReducer& gradients) {
  std::size_t parameter = 0;
  for (const auto& tensor : model.parameters) parameter = std::max(parameter, tensor.value.size());
  std::size_t buffers = 0;
  for (const auto& tensor : model.buffers) buffers += tensor.value.size();
  const auto call = [](CollectiveKind kind, std::size_t count) {
    return CollectiveCall{.kind = kind, .dtype = DType::float32, .count = count};
  };
  return {call(CollectiveKind::all_reduce, gradients.elements_max()),
          call(CollectiveKind::broadcast, std::max(parameter, buffers))};
}

}  // namespace

Replica::Replica(ModelTensors model, const ProcessGroup& group,
                 DistributedDataParallelOptions options)
    : model_(agreed(std::move(model), group, options)),
      group_(group),
      options_(std::move(options)),
      buffers_(model_.buffers, group_),
      gradients_(model_.parameters, options_.bucket_bytes, group_),
      vaults_(group_.as_part_of(distributed::CallPurpose::model_check),
              largest_calls(model_, gradients_), "DistributedDataParallel") {
  broadcast_from([this] {
    return group_.as_part_of(distributed::CallPurpose::model_copy).barrier().ranks().front();
  });
}

void Replica::begin_iteration() {
  sync_buffers_if_due();
  gradients_.begin(!no_sync_);
  ++uses_;
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
  authoritative_rank_ = broadcast_from([&] { return rank_with_final_model(is_last_joiner); });
  // The ranks ended in different iterations; from here on they agree again.
  buffers_due_ = true;
}

// The greatest of the last joiners; if none of them is left, the greatest of those that were active
// longest.
int Replica::rank_with_final_model(bool is_last_joiner) {
  constexpr std::int64_t kUsesMax = std::int64_t{1} << 40;
  const std::int64_t uses = is_last_joiner ? kUsesMax : std::min(uses_, kUsesMax - 1);
  std::int64_t best = uses * distributed::kRankCountMax + group_.rank();
  group_.as_part_of(distributed::CallPurpose::model_copy)
      .all_reduce(std::span(&best, 1), ReduceOp::max);
  return static_cast<int>(best % distributed::kRankCountMax);
}

// `choose_root` is a collective that gives the same rank everywhere; asked once more if that one
// dies before all have its model. Gives the rank whose model all have.
int Replica::broadcast_from(const std::function<int()>& choose_root) {
  for (;;) {
    const int root = choose_root();
    fault_point("model.root_chosen");
    try {
      model_.broadcast(group_, root);
      fault_point("model.sent");
      return root;
    } catch (const PeerFailure& failure) {
      // A group that has failed for good says so when the next root is chosen.
      if (failure.rank() != root) throw;
    }
  }
}

bool Replica::set_no_sync(bool no_sync) noexcept {
  return std::exchange(no_sync_, no_sync);
}

void Replica::sync_buffers_if_due() {
  if (options_.broadcast_buffers && buffers_due_) buffers_.run();
  buffers_due_ = false;
}

}  // namespace tensorplay::nn
