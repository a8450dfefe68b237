#include "lib/nn/model_tensors.h"

#include "lib/nn/fnv.h"

#include <fmt/core.h>
#include <tensorplay/error.h>

#include <span>

namespace tensorplay::nn {

using parallel::Buffer;
using parallel::Parameter;

void ModelTensors::expect_equal_lengths() const {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    if (parameter.value.size() == parameter.gradient.size()) continue;
    throw InvalidArgument(
        fmt::format("DistributedDataParallel: parameter {} ('{}') has {} values and {} gradients",
                    i, parameter.name, parameter.value.size(), parameter.gradient.size()));
  }
}

ModelOutline ModelTensors::outline(const parallel::DistributedDataParallelOptions& options) const {
  ModelOutline lines;
  lines.push_back(fmt::format("bucket_bytes {}", options.bucket_bytes));
  lines.push_back(fmt::format("broadcast_buffers {}", options.broadcast_buffers));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    lines.push_back(fmt::format("parameter {} ('{}') with {} elements", i, parameters[i].name,
                                parameters[i].value.size()));
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    lines.push_back(fmt::format("buffer {} ('{}') with {} elements", i, buffers[i].name,
                                buffers[i].value.size()));
  }
  return lines;
}

void ModelTensors::broadcast(distributed::ProcessGroup& group, int root) const {
  distributed::ProcessGroup copying = group.as_part_of(distributed::CallPurpose::model_copy);
  for (const Parameter& parameter : parameters) copying.broadcast(parameter.value, root);
  for (const Buffer& buffer : buffers) copying.broadcast(buffer.value, root);
}

std::uint64_t ModelTensors::checksum() const noexcept {
  std::uint64_t hash = kFnvBasis;
  for (const Parameter& parameter : parameters) hash = fnv1a(std::as_bytes(parameter.value), hash);
  for (const Buffer& buffer : buffers) hash = fnv1a(std::as_bytes(buffer.value), hash);
  return hash;
}

}  // namespace tensorplay::nn
