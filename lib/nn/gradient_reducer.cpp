#include "lib/nn/gradient_reducer.h"

#include <fmt/core.h>
#include <tensorplay/error.h>

#include <algorithm>
#include <utility>

namespace tensorplay::nn {

namespace {

using distributed::Contributors;
using distributed::ProcessGroup;
using parallel::Parameter;

// Buckets begin on lines of their own: as the group's memory does.
constexpr std::size_t kLineFloats = 64 / sizeof(float);

std::vector<std::size_t> counts_of(const std::vector<Parameter>& parameters) {
  std::vector<std::size_t> counts;
  counts.reserve(parameters.size());
  for (const Parameter& parameter : parameters) counts.push_back(parameter.value.size());
  return counts;
}

std::size_t elements_of(const Bucket& bucket) {
  return bucket.count + bucket.slots.size();
}

std::vector<std::size_t> lay_out(const BucketPlan& plan) {
  std::vector<std::size_t> offsets = {0};
  for (const Bucket& bucket : plan.buckets) {
    const std::size_t lines = (elements_of(bucket) + kLineFloats - 1) / kLineFloats;
    offsets.push_back(offsets.back() + lines * kLineFloats);
  }
  return offsets;
}

const char* name(GradientMark mark) {
  return mark == GradientMark::unused ? "unused" : "ready";
}

}  // namespace

GradientReducer::GradientReducer(std::vector<Parameter> parameters, std::size_t bucket_bytes,
                                 ProcessGroup& group)
    : parameters_(std::move(parameters)),
      group_(group),
      plan_(plan_buckets(counts_of(parameters_), bucket_bytes)),
      bucket_offsets_(lay_out(plan_)),
      memory_(group_, bucket_offsets_.back()),
      accumulated_(parameters_.size()),
      marks_(parameters_.size()),
      unfilled_(plan_.buckets.size()) {}

GradientReducer::~GradientReducer() {
  // Left by an exception in the middle of an iteration: waiting for the others could last for ever,
  // and they may still read what this rank contributed.
  if (!started_.empty()) memory_.abandon();
}

void GradientReducer::expect_finished() const {
  if (iteration_ != Iteration::synchronizing) return;
  const auto marked = std::find_if(marks_.begin(), marks_.end(),
                                   [](GradientMark mark) { return mark != GradientMark::none; });
  if (marked == marks_.end()) return;  // a forward pass without a backward pass
  const auto parameter = static_cast<std::size_t>(marked - marks_.begin());
  throw InvalidArgument(
      fmt::format("DistributedDataParallel::forward(): the last iteration isn't over: parameter {} "
                  "('{}') was told to be {}, but synchronize() has not been called",
                  parameter, parameters_[parameter].name, name(*marked)));
}

void GradientReducer::begin(bool synchronizes) {
  settle();
  iteration_ = synchronizes ? Iteration::synchronizing : Iteration::accumulating;
  std::fill(marks_.begin(), marks_.end(), GradientMark::none);
  for (std::size_t i = 0; i < unfilled_.size(); ++i) unfilled_[i] = plan_.buckets[i].slots.size();
}

void GradientReducer::mark(std::size_t parameter, GradientMark mark, const char* caller) {
  if (parameter >= parameters_.size()) {
    throw InvalidArgument(
        fmt::format("DistributedDataParallel::{}({}): the model has {} parameters", caller,
                    parameter, parameters_.size()));
  }
  const std::string& name_of_parameter = parameters_[parameter].name;
  if (iteration_ == Iteration::none) {
    throw InvalidArgument(fmt::format(
        "DistributedDataParallel::{}({}): no iteration has begun, so parameter '{}' can't "
        "have a gradient: call forward() first",
        caller, parameter, name_of_parameter));
  }
  if (marks_[parameter] != GradientMark::none) {
    throw InvalidArgument(fmt::format(
        "DistributedDataParallel::{}({}): parameter '{}' was told to be {} already in this "
        "iteration",
        caller, parameter, name_of_parameter, name(marks_[parameter])));
  }
  marks_[parameter] = mark;
  if (iteration_ == Iteration::accumulating) return;
  fill(parameter);
  start_full_buckets();
}

bool GradientReducer::finish(Divisor divisor) {
  if (iteration_ == Iteration::none) {
    throw InvalidArgument(
        "DistributedDataParallel::synchronize(): no iteration has begun: call forward() first");
  }
  if (iteration_ == Iteration::accumulating) {
    settle();
    return false;
  }
  iteration_ = Iteration::none;  // also if the group fails: that is what the next forward() tells
  for (const Bucket& bucket : plan_.buckets) {
    for (const BucketSlot& slot : bucket.slots) {
      if (marks_[slot.parameter] == GradientMark::none) fill(slot.parameter);
    }
    start_full_buckets();
  }
  for (std::size_t i = 0; i < started_.size(); ++i) {
    const Contributors contributors = started_[i].wait();
    deliver(i, number(divisor, contributors), Unused::keep);
  }
  started_.clear();
  accumulated_.assign(accumulated_.size(), false);
  return true;
}

void GradientReducer::settle() {
  for (distributed::Work& work : started_) work.wait();
  started_.clear();
  if (iteration_ == Iteration::accumulating) accumulate();
  iteration_ = Iteration::none;
}

bool GradientReducer::shadow(Divisor divisor) {
  // One after the other: the first one tells whether the others are made at all.
  for (std::size_t i = 0; i < plan_.buckets.size(); ++i) {
    const Contributors contributors = reduce(i).wait();
    if (contributors.empty()) return false;
    deliver(i, number(divisor, contributors), Unused::clear);
  }
  return true;
}

std::size_t GradientReducer::elements_max() const noexcept {
  std::size_t most = 0;
  for (const Bucket& bucket : plan_.buckets) most = std::max(most, elements_of(bucket));
  return most;
}

std::span<float> GradientReducer::bucket_memory(std::size_t bucket) const {
  return memory_.floats().subspan(bucket_offsets_[bucket], elements_of(plan_.buckets[bucket]));
}

// Without a mark a parameter has a gradient, as in finish().
void GradientReducer::accumulate() {
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    if (marks_[i] != GradientMark::unused) accumulated_[i] = true;
  }
}

void GradientReducer::fill(std::size_t parameter) {
  const std::size_t index = plan_.bucket_of[parameter];
  const Bucket& bucket = plan_.buckets[index];
  // The slots of a bucket hold consecutive parameters, in reverse.
  const std::size_t place = bucket.slots.front().parameter - parameter;
  const BucketSlot& slot = bucket.slots[place];
  const std::span<float> memory = bucket_memory(index);
  const std::span<float> destination = memory.subspan(slot.offset, slot.count);

  const bool has_gradient = marks_[parameter] != GradientMark::unused || accumulated_[parameter];
  if (has_gradient) {
    std::copy_n(parameters_[parameter].gradient.begin(), slot.count, destination.begin());
  } else {
    std::fill(destination.begin(), destination.end(), 0.0F);
  }
  memory[bucket.count + place] = has_gradient ? 1.0F : 0.0F;
  --unfilled_[index];
}

void GradientReducer::start_full_buckets() {
  while (started_.size() < plan_.buckets.size() && unfilled_[started_.size()] == 0) {
    started_.push_back(reduce(started_.size()));
  }
}

distributed::Work GradientReducer::reduce(std::size_t bucket) {
  return group_.as_part_of(distributed::CallPurpose::gradients)
      .all_reduce_async(bucket_memory(bucket));
}

void GradientReducer::deliver(std::size_t index, int divisor, Unused unused) {
  const Bucket& bucket = plan_.buckets[index];
  const std::span<const float> memory = bucket_memory(index);
  const auto denominator = static_cast<float>(divisor);
  for (std::size_t place = 0; place < bucket.slots.size(); ++place) {
    const BucketSlot& slot = bucket.slots[place];
    const std::span<float> gradient = parameters_[slot.parameter].gradient;
    if (memory[bucket.count + place] == 0) {
      if (unused == Unused::clear) std::fill(gradient.begin(), gradient.end(), 0.0F);
      continue;
    }
    const std::span<const float> sum = memory.subspan(slot.offset, slot.count);
    // Divided, not multiplied by a reciprocal: rounded once, so it's the mean that one would
    // compute.
    for (std::size_t i = 0; i < sum.size(); ++i) gradient[i] = sum[i] / denominator;
  }
}

int GradientReducer::number(Divisor divisor, const Contributors& contributors) const {
  return divisor == Divisor::world_size ? group_.size() : contributors.count();
}

}  // namespace tensorplay::nn
