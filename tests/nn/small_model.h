// A model that tests wrap: its tensors, and gradients that can be computed anywhere.
#pragma once

#include <tensorplay/nn/parallel/distributed_data_parallel.h>
#include <tensorplay/optim/optimizer.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace tensorplay::nn {

using parallel::Buffer;
using parallel::DistributedDataParallel;
using parallel::DistributedDataParallelOptions;
using parallel::Parameter;

// A gradient's element, as it comes from `rank` in `iteration`: not representable in few bits, so
// that an average in another order or a division elsewhere would show.
inline float gradient_element(int rank, int iteration, std::size_t parameter, std::size_t i) {
  return static_cast<float>(std::sin(1.0 + 3.1 * rank + 0.7 * iteration +
                                     1.3 * static_cast<double>(parameter) +
                                     0.01 * static_cast<double>(i)));
}

struct SmallModel {
  explicit SmallModel(const std::vector<std::size_t>& parameter_counts,
                      const std::vector<std::size_t>& buffer_counts = {}) {
    for (std::size_t count : parameter_counts) {
      values.emplace_back(count, 1.0F);
      gradients.emplace_back(count, 0.0F);
    }
    for (std::size_t count : buffer_counts) buffers.emplace_back(count, 0.0F);
  }

  std::vector<Parameter> parameters() {
    std::vector<Parameter> result;
    for (std::size_t i = 0; i < values.size(); ++i) {
      result.push_back({"weight" + std::to_string(i), values[i], gradients[i]});
    }
    return result;
  }
  std::vector<Buffer> model_buffers() {
    std::vector<Buffer> result;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      result.push_back({"mean" + std::to_string(i), buffers[i]});
    }
    return result;
  }
  std::vector<optim::Tensor> tensors() {
    std::vector<optim::Tensor> result;
    for (std::size_t i = 0; i < values.size(); ++i) result.push_back({values[i], gradients[i]});
    return result;
  }

  // A backward pass over data of that rank and iteration.
  void backward(int rank, int iteration) {
    for (std::size_t p = 0; p < gradients.size(); ++p) backward(rank, iteration, p);
  }
  void backward(int rank, int iteration, std::size_t parameter) {
    std::vector<float>& gradient = gradients[parameter];
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      gradient[i] = gradient_element(rank, iteration, parameter, i);
    }
  }
  void set_gradients(float value) {
    for (auto& gradient : gradients) std::fill(gradient.begin(), gradient.end(), value);
  }
  void set_buffers(float value) {
    for (auto& buffer : buffers) std::fill(buffer.begin(), buffer.end(), value);
  }

  std::vector<std::vector<float>> values;
  std::vector<std::vector<float>> gradients;
  std::vector<std::vector<float>> buffers;
};

// The mean of that element over ranks 0 ... world_size-1, in the order that the collectives
// promise.
inline float mean_element(int world_size, int iteration, std::size_t parameter, std::size_t i) {
  float sum = gradient_element(0, iteration, parameter, i);
  for (int rank = 1; rank < world_size; ++rank)
    sum += gradient_element(rank, iteration, parameter, i);
  return sum / static_cast<float>(world_size);
}

}  // namespace tensorplay::nn
