// DistributedDataParallel: keeps the replicas of a model equal while each rank trains on its own
// data.
#pragma once

#include <tensorplay/distributed/algorithms/joinable.h>
#include <tensorplay/distributed/process_group.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tensorplay::nn::parallel {

// One parameter tensor of a model: its values and its gradient, of equal length, owned by the
// caller, who keeps both alive and in place as long as the DistributedDataParallel lives.
struct Parameter {
  std::string name;           // for messages
  std::span<float> value;
  std::span<float> gradient;
};

// State that isn't trained but belongs to the model: running means, counters.
struct Buffer {
  std::string name;
  std::span<float> value;
};

struct DistributedDataParallelOptions {
  // Behaviour. The same on all ranks.
  bool broadcast_buffers = true;  // buffers follow the highest active rank at each forward

  // Performance.
  // Gradients are reduced in buckets of about this size, filled in reverse order of the parameters:
  // the order in which a backward pass makes them ready. A parameter is never divided.
  std::size_t bucket_bytes = std::size_t{1} << 20;
};

// Wraps a model, given as its parameters and buffers. In each iteration
//
//     model.forward();                        // before the forward pass: notifies Join, syncs buffers
//     ... forward and backward pass, gradients written by the caller ...
//     model.gradient_ready(i);                // optional, as each gradient is complete
//     model.synchronize();                    // averages what isn't averaged yet, and waits
//     optimizer.step();
//
// after synchronize() every active rank holds the same averaged gradients. A parameter that was not
// used on this rank in this iteration is told by gradient_unused(i): its gradient counts as zero,
// and stays as it was on all ranks if no rank used it.
//
// With Join (algorithms/join.h): joined ranks contribute nothing and cost nothing. The sum of
// gradients is divided by the group's size (kwarg "divide_by_initial_world_size", true by default)
// or by the active ranks (false). When all have joined, parameters and buffers of the last joiner
// with the greatest rank are copied to all.
//
// Threads and processes: as the group's.
class DistributedDataParallel : public distributed::algorithms::Joinable {
 public:
  // Collective. Checks that all ranks pass the same number, order and sizes of parameters and
  // buffers, and the same options (else CollectiveMismatch on all ranks, naming the first that
  // differs), then copies rank 0's values to all. Throws InvalidArgument for a parameter whose
  // gradient and value differ in length.
  DistributedDataParallel(std::vector<Parameter> parameters,
                          const distributed::ProcessGroup& group,
                          DistributedDataParallelOptions options = {});
  DistributedDataParallel(std::vector<Parameter> parameters, std::vector<Buffer> buffers,
                          const distributed::ProcessGroup& group,
                          DistributedDataParallelOptions options = {});
  ~DistributedDataParallel() override;

  // Begins an iteration: notifies the Join context and copies the buffers of the highest active
  // rank to all, unless the last iteration was under no_sync.
  void forward();

  // The gradient of parameter `index` is complete: its bucket is reduced as soon as it's full, while
  // the caller goes on. Once per parameter and iteration; all ranks may call in any order.
  // Outside of no_sync only; under it this does nothing.
  void gradient_ready(std::size_t index);

  // Parameter `index` has no gradient on this rank in this iteration.
  void gradient_unused(std::size_t index);

  // Ends the backward pass: reduces every bucket that isn't yet and waits for all. Under no_sync it
  // does nothing.
  void synchronize();

  // While the returned guard lives, gradients aren't synchronised: they accumulate on each rank, to
  // be averaged by the first synchronize() after it. All active ranks use it in the same iterations.
  class NoSync {
   public:
    explicit NoSync(DistributedDataParallel& model) noexcept;
    ~NoSync();
    NoSync(const NoSync&) = delete;
    NoSync& operator=(const NoSync&) = delete;

   private:
    DistributedDataParallel& model_;
    bool before_;
  };
  [[nodiscard]] NoSync no_sync() noexcept { return NoSync(*this); }

  // How the buckets were cut: for each bucket, the indices of its parameters.
  std::vector<std::vector<std::size_t>> buckets() const;

  // The rank whose model all ranks hold since the last Join context ended; -1 before that.
  int authoritative_rank() const noexcept;

  // A checksum of the parameters' and buffers' bits; equal on ranks that hold the same model.
  std::uint64_t checksum() const noexcept;

  // Joinable.
  std::unique_ptr<distributed::algorithms::JoinHook> join_hook(
      const distributed::algorithms::JoinKwargs& kwargs) override;
  distributed::ProcessGroup& join_process_group() override;
  const char* joinable_name() const noexcept override { return "DistributedDataParallel"; }

 private:
  class Replica;  // parameters, buffers, buckets: all state
  class FinalModelHook;
  std::unique_ptr<Replica> replica_;
};

}  // namespace tensorplay::nn::parallel
