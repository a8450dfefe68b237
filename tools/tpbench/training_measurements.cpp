// A DDP loop whose forward and backward pass are arithmetic that costs something.

#include "tools/tpbench/forked_ranks.h"
#include "tools/tpbench/join_measurements.h"

#include <tensorplay/distributed/algorithms/join.h>
#include <tensorplay/nn/parallel/distributed_data_parallel.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <string>

namespace tensorplay::tpbench {
namespace {

using distributed::ProcessGroup;
using distributed::algorithms::Join;
using distributed::algorithms::JoinOptions;
using nn::parallel::DistributedDataParallel;
using nn::parallel::Parameter;
using Clock = std::chrono::steady_clock;

// 100 000 parameters, as in a small network.
constexpr std::size_t kTensors = 4, kTensorSize = 25'000;
constexpr int kPasses = 5;
constexpr float kLearningRate = 1e-4F;

class Model {
 public:
  explicit Model(const ProcessGroup& group) : ddp_(parameters(), group) {}

  DistributedDataParallel& ddp() noexcept { return ddp_; }

  void train() {
    ddp_.forward();
    for (std::size_t i = kTensors; i-- > 0;) {
      compute(i);
      ddp_.gradient_ready(i);
    }
    ddp_.synchronize();
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] -= kLearningRate * gradients_[i];
  }

 private:
  std::vector<Parameter> parameters() {
    std::vector<Parameter> all;
    for (std::size_t i = 0; i < kTensors; ++i) {
      all.push_back({"tensor " + std::to_string(i), part(values_, i), part(gradients_, i)});
    }
    return all;
  }
  static std::span<float> part(std::vector<float>& all, std::size_t tensor) {
    return std::span(all).subspan(tensor * kTensorSize, kTensorSize);
  }
  void compute(std::size_t tensor) {
    const auto value = part(values_, tensor), gradient = part(gradients_, tensor);
    for (int pass = 0; pass < kPasses; ++pass) {
      for (std::size_t i = 0; i < kTensorSize; ++i) {
        gradient[i] = 0.9F * gradient[i] + 0.1F * value[i];
      }
    }
  }

  std::vector<float> values_ = std::vector<float>(kTensors * kTensorSize, 1.0F);
  std::vector<float> gradients_ = std::vector<float>(kTensors * kTensorSize);
  DistributedDataParallel ddp_;
};

// The seconds of an iteration, mean of a block.
double time_block(Model& model, RigRank& rank, bool enable, int iterations) {
  JoinOptions options;
  options.enable = enable;
  rank.meet();
  Join join({model.ddp()}, options);
  const auto begin = Clock::now();
  for (int i = 0; i < iterations; ++i) model.train();
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  join.finish();
  return seconds / iterations;
}

}  // namespace

TrainingTimes time_training(int ranks, const JoinEffort& effort) {
  const auto samples = measure_ranks(ranks, [&](ProcessGroup& group, RigRank& rank) {
    Model model(group);
    const int whole = effort.training_iterations, half = (whole + 1) / 2;
    time_block(model, rank, true, whole);
    for (int i = 0; i < effort.training_blocks; ++i) {
      rank.note(time_block(model, rank, false, whole));
      rank.note(time_block(model, rank, true, whole));
      const double uneven = time_block(model, rank, true, rank.rank() == 0 ? whole : half);
      // The rank with all of the inputs counts.
      rank.note(rank.rank() == 0 ? uneven : 0);
    }
  });
  TrainingTimes times;
  for (std::size_t i = 0; i + 2 < samples.size(); i += 3) {
    times.disabled.push_back(samples[i]);
    times.enabled.push_back(samples[i + 1]);
    times.uneven.push_back(samples[i + 2]);
  }
  return times;
}

}  // namespace tensorplay::tpbench
