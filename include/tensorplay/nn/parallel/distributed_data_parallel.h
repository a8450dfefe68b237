// DistributedDataParallel: keeps the replicas of a model equal while each rank trains on its own
// data.
#pragma once

#include <tensorplay/distributed/algorithms/joinable.h>
#include <tensorplay/distributed/process_group.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tensorplay::nn {
class Replica;  // one rank's copy of a model; known to the library only
}

namespace tensorplay::nn::parallel {

// One parameter tensor of a model: its values and its gradient, of equal length, owned by the
// caller, who keeps both alive and in place as long as the DistributedDataParallel lives.
struct Parameter {
  std::string name;  // for messages
  std::span<float> value;
  std::span<float> gradient;
};

// State that isn't trained but belongs to the model: running means, counters.
struct Buffer {
  std::string name;
  std::span<float> value;
};

struct DistributedDataParallelOptions {
  // Behaviour.
  // Buffers follow the highest active rank at each forward(). The same on all ranks.
  bool broadcast_buffers = true;
  // With the Join argument "follow": called on a joined rank when the gradients of an iteration
  // that it missed have been written, for what the loop does after synchronize(): optimizer.step().
  std::function<void()> on_shadowed_iteration = {};

  // Performance. The same on all ranks.
  // Gradients are reduced in buckets of at most this size, filled in reverse order of the
  // parameters: the order in which a backward pass makes them ready. A parameter is never divided;
  // one that is larger gets a bucket of its own.
  std::size_t bucket_bytes = std::size_t{1} << 20;
};

// Wraps a model, given as its parameters and buffers. In each iteration
//
//     model.forward();                        // before the forward pass: tells Join, syncs buffers
//     ... forward and backward pass, gradients written by the caller ...
//     model.gradient_ready(i);                // optional, as each gradient is complete
//     model.synchronize();                    // averages what isn't averaged yet, and waits
//     optimizer.step();
//
// after synchronize() every active rank holds the same averaged gradients: the sum in rank order,
// divided once. A parameter that was not used on this rank in this iteration is told by
// gradient_unused(i): its gradient counts as zero, and stays as it was on all ranks if no rank used
// it.
//
// An iteration without a backward pass, as in an evaluation, ends with the next forward(). Where no
// rank calls forward() nothing is sent: ranks may evaluate on their own.
//
// Other collectives of the group fall between forward() and the first gradient_ready(), or after
// synchronize(): where ranks differ in the order of their gradients, they differ in what they have
// started in between.
//
// With Join (algorithms/join.h). Joined ranks contribute nothing and cost nothing. When all have
// joined, parameters and buffers of the last joiner with the greatest rank are copied to all.
// Arguments of the context, both bool:
//
//   divide_by_initial_world_size   By default true: the sum of gradients is divided by the group's
//                                  size; false: by the active ranks. Outside of a context it is
//                                  always the group's size.
//   follow                         By default false. true: a joined rank stays in step. It receives
//                                  buffers and averaged gradients of every iteration that it
//                                  misses and then calls on_shadowed_iteration. When that steps
//                                  its optimizer, all ranks hold the same parameters and the same
//                                  optimizer state at all times. A gradient that no rank had is
//                                  zero on it, as in a loop that clears them at each beginning.
//
// Where deaths are survived (PeerFailurePolicy::continue_without) the dead contribute nothing, and
// the group's size stays what it was: the sum over the living is divided by the number of ranks
// that the job began with, so that gradients become smaller by the part of the data that is
// missing. With divide_by_initial_world_size = false, in a context, it is divided by the ranks that
// have contributed to it: the mean of the living. Either way by the same number on all ranks.
//
// Without `follow`, optimizer states differ after the context: see Optimizer::state() in
// optim/optimizer.h.
//
// Threads and processes: as the group's.
class DistributedDataParallel : public distributed::algorithms::Joinable {
 public:
  // Collective. Checks that all ranks pass the same names, order and sizes of parameters and
  // buffers, and the same options (else CollectiveMismatch on all ranks, naming the first that
  // differs; the group stays whole), then copies rank 0's values to all. Throws InvalidArgument for
  // a parameter whose gradient and value differ in length. Where deaths are survived, reserves
  // shared memory for the copy of the largest bucket, or of all buffers: else SegmentError on all
  // ranks, with the bytes wanted, the bytes free and the remedy; the group stays whole.
  DistributedDataParallel(std::vector<Parameter> parameters, const distributed::ProcessGroup& group,
                          DistributedDataParallelOptions options = {});
  DistributedDataParallel(std::vector<Parameter> parameters, std::vector<Buffer> buffers,
                          const distributed::ProcessGroup& group,
                          DistributedDataParallelOptions options = {});
  ~DistributedDataParallel() override;

  // Begins an iteration: notifies the Join context and copies the buffers of the highest active
  // rank to all, unless the last iteration reduced no gradients: it was under no_sync, or had no
  // synchronize(). Throws InvalidArgument if gradients that were told to be ready still wait for
  // synchronize(), and what the Join context throws.
  void forward();

  // The gradient of parameter `index` is complete: its bucket is reduced as soon as it's full,
  // while the caller goes on. Once per parameter and iteration; all ranks may call in any order.
  // The gradient isn't to be written or read from then on until synchronize() has returned. Under
  // no_sync nothing is sent. Throws InvalidArgument before forward(), for a second call, and for an
  // index that is none.
  void gradient_ready(std::size_t index);

  // Parameter `index` has no gradient on this rank in this iteration. After iterations under
  // no_sync the gradient that those have accumulated counts, if there is one. Throws as
  // gradient_ready().
  void gradient_unused(std::size_t index);

  // Ends the backward pass: reduces every bucket that isn't yet and waits for all. Under no_sync
  // nothing is sent. Throws InvalidArgument before forward().
  void synchronize();

  // Iterations begun by forward() while the returned guard lives aren't synchronised: gradients
  // accumulate on each rank, to be averaged by the first synchronize() of an iteration that began
  // after it. All active ranks use it in the same iterations.
  //
  // What a rank has accumulated when it leaves its loop reaches the others only later: it stays in
  // the rank's gradients (unless it follows: the averages that it receives are written over it) and
  // counts in the first synchronize() after the context, if the caller doesn't clear it before. To
  // let it count at once, cut the inputs so that a rank's last iteration is a synchronised one.
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

  // A checksum of the parameters' and buffers' bits (FNV-1a, 64 bits); equal on ranks that hold the
  // same model.
  std::uint64_t checksum() const noexcept;

  // Joinable.
  std::unique_ptr<distributed::algorithms::JoinHook> join_hook(
      const distributed::algorithms::JoinKwargs& kwargs) override;
  distributed::ProcessGroup& join_process_group() override;
  const char* joinable_name() const noexcept override { return "DistributedDataParallel"; }

 private:
  std::unique_ptr<Replica> replica_;
};

}  // namespace tensorplay::nn::parallel
