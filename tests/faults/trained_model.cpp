#include "tests/faults/trained_model.h"

#include <tensorplay/distributed/algorithms/join.h>

#include <cmath>
#include <string>

namespace tensorplay::faults {

using distributed::algorithms::Join;

TrainedModel::TrainedModel(Player& player, bool follows)
    : player_(player),
      follows_(follows),
      small_(10),
      small_gradient_(small_.size()),
      large_(9000),
      large_gradient_(large_.size()),
      mean_(20) {
  ddp_.emplace(std::vector<nn::parallel::Parameter>{{"small", small_, small_gradient_},
                                                    {"large", large_, large_gradient_}},
               std::vector<nn::parallel::Buffer>{{"mean", mean_}}, player.group(),
               nn::parallel::DistributedDataParallelOptions{
                   .on_shadowed_iteration = [this] { note_gradients(true); }, .bucket_bytes = 256});
}

void TrainedModel::train(int iterations) {
  player_.begin_section();
  iteration_ = 0;
  Join join({*ddp_}, {.kwargs = {{"follow", follows_}}});
  for (int i = 0; i < iterations; ++i) iterate();
  const auto report = join.finish();
  player_.begin_section();
  player_.note_report(report);
  player_.note_state(ddp_->checksum(), "model");
}

void TrainedModel::iterate() {
  ddp_->forward();
  // The sum is divided by the size of the group: what is left are bits.
  const float bit = std::ldexp(1.0F, player_.world_rank()) * static_cast<float>(player_.size());
  small_gradient_.assign(small_gradient_.size(), bit);
  large_gradient_.assign(large_gradient_.size(), bit);
  ddp_->gradient_ready(1);
  ddp_->synchronize();
  for (float& mean : mean_) mean += 1;
  note_gradients(false);
}

void TrainedModel::note_gradients(bool shadow) {
  player_.begin_iteration(++iteration_);
  // In the order in which they are reduced.
  for (const auto* gradient : {&large_gradient_, &small_gradient_}) {
    const float first = gradient->front();
    for (const float value : *gradient) {
      if (value == first) continue;
      player_.found().add("a gradient has " + std::to_string(first) + " and " +
                          std::to_string(value));
      break;
    }
    player_.note_census(static_cast<std::uint64_t>(first), "gradient", shadow);
  }
  for (float& weight : large_) weight -= large_gradient_.front();
}

}  // namespace tensorplay::faults
