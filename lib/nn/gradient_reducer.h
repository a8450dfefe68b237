// Sums gradients over the ranks, bucket by bucket, while the backward pass goes on.
#pragma once

#include "lib/nn/bucket_plan.h"
#include "lib/nn/group_memory.h"

#include <tensorplay/distributed/process_group.h>
#include <tensorplay/nn/parallel/distributed_data_parallel.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tensorplay::nn {

// What a sum of gradients is divided by.
enum class Divisor : std::uint8_t { world_size, contributors };

// What a rank has said about a parameter's gradient in this iteration.
enum class GradientMark : std::uint8_t { none, ready, unused };

// Gradients are copied into their bucket as they become ready. A bucket's elements are
//
//     | gradient of its first parameter | ... | of its last one | 1 or 0 | ... | 1 or 0 |
//
// where the ones say, for each parameter, whether this rank has a gradient for it. They are summed
// with the gradients, at no further collective: a parameter that no rank used is known on all
// ranks.
//
// Buckets are reduced in the order of the plan on every rank, each as soon as it and those before
// it are full, whatever the order in which gradients become ready: collectives pair up by their
// order.
//
// An iteration:        begin(true)   mark()...   finish()
// one under no_sync:   begin(false)  [mark()...] [finish()]    gradients stay and accumulate
class GradientReducer {
 public:
  // Makes its collectives through `group` itself, the Joinable's handle, which must outlive this.
  GradientReducer(std::vector<parallel::Parameter> parameters, std::size_t bucket_bytes,
                  distributed::ProcessGroup& group);
  ~GradientReducer();
  GradientReducer(const GradientReducer&) = delete;
  GradientReducer& operator=(const GradientReducer&) = delete;

  // Throws InvalidArgument if gradients of the last iteration still wait for finish().
  void expect_finished() const;
  // `synchronizes`: false under no_sync.
  void begin(bool synchronizes);

  // Once per parameter and iteration. `caller` is the function to be named in messages.
  void mark(std::size_t parameter, GradientMark mark, const char* caller);

  // Takes every parameter without a mark for ready, and writes the averages into the gradients.
  // True if gradients were reduced: not under no_sync.
  bool finish(Divisor divisor);

  // Ends an iteration that wasn't, or needn't be, ended by finish(): one that was left by `break`,
  // or is accumulating.
  void settle();

  // What a joined rank does in step with an iteration of the others: receives the averages that
  // they compute. A gradient that nobody has becomes zero. False if they reduced nothing.
  bool shadow(Divisor divisor);

  const BucketPlan& plan() const noexcept { return plan_; }
  // Elements of the largest reduction.
  std::size_t elements_max() const noexcept;

 private:
  enum class Iteration : std::uint8_t { none, synchronizing, accumulating };
  enum class Unused : std::uint8_t { keep, clear };

  std::span<float> bucket_memory(std::size_t bucket) const;
  void accumulate();
  void fill(std::size_t parameter);
  void start_full_buckets();
  distributed::Work reduce(std::size_t bucket);
  void deliver(std::size_t bucket, int divisor, Unused unused);
  int number(Divisor divisor, const distributed::Contributors& contributors) const;

  std::vector<parallel::Parameter> parameters_;
  distributed::ProcessGroup& group_;
  BucketPlan plan_;
  std::vector<std::size_t> bucket_offsets_;  // in memory_; the last one is its end
  GroupMemory memory_;

  std::vector<bool> accumulated_;  // per parameter: an iteration under no_sync left a gradient

  // Of this iteration.
  Iteration iteration_ = Iteration::none;
  std::vector<GradientMark> marks_;         // per parameter
  std::vector<std::size_t> unfilled_;       // per bucket: parameters that it still waits for
  std::vector<distributed::Work> started_;  // the reductions of the first so many buckets
};

}  // namespace tensorplay::nn
