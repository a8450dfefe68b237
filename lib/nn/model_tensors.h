// The tensors of a model as a whole: what is checked, copied and hashed of them.
#pragma once

#include "lib/nn/model_agreement.h"

#include <tensorplay/distributed/process_group.h>
#include <tensorplay/nn/parallel/distributed_data_parallel.h>

#include <cstdint>
#include <vector>

namespace tensorplay::nn {

struct ModelTensors {
  std::vector<parallel::Parameter> parameters;
  std::vector<parallel::Buffer> buffers;

  // Throws InvalidArgument for a parameter whose value and gradient differ in length.
  void expect_equal_lengths() const;

  // What must be the same on all ranks.
  ModelOutline outline(const parallel::DistributedDataParallelOptions& options) const;

  // Collective: copies root's parameters and buffers to all ranks.
  void broadcast(distributed::ProcessGroup& group, int root) const;

  // FNV-1a of the bits of the parameters, then of the buffers.
  std::uint64_t checksum() const noexcept;
};

}  // namespace tensorplay::nn
