// A model under DistributedDataParallel whose gradients tell who contributed to them.
#pragma once

#include "tests/faults/player.h"

#include <tensorplay/nn/parallel/distributed_data_parallel.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace tensorplay::faults {

// Two parameters, in a bucket each, and a buffer. A rank's gradient is a bit of its own, so that
// the sum is the set of the contributors.
class TrainedModel {
 public:
  // Collective. With `follows` joined ranks keep in step. `player` outlives it.
  TrainedModel(Player& player, bool follows);

  // One Join context with so many iterations on this rank; notes the gradients, the report, and the
  // model that all have in the end.
  void train(int iterations);

 private:
  void iterate();
  void note_gradients(bool shadow);

  Player& player_;
  bool follows_;
  std::uint32_t iteration_ = 0;
  std::vector<float> small_, small_gradient_;
  std::vector<float> large_, large_gradient_;
  std::vector<float> mean_;
  std::optional<nn::parallel::DistributedDataParallel> ddp_;
};

}  // namespace tensorplay::faults
