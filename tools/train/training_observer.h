// Who watches a run.
#pragma once

#include "tools/train/run_report.h"

#include <cstddef>

namespace tensorplay::train {

// Told by the trainer, on the thread that trains, as it gets on. Does nothing by default; what an
// observer throws ends the run. Where it says "the leader" only the lowest rank that lives is told.
class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;
  virtual void epoch_begins([[maybe_unused]] int epoch) {}
  // The leader has made `done` of its `count` batches of epoch 1, 2...
  virtual void batch_done([[maybe_unused]] int epoch, [[maybe_unused]] std::size_t done,
                          [[maybe_unused]] std::size_t count) {}
  // This rank has made all its epochs; the models are compared next.
  virtual void epochs_end() {}
  // All ranks have ended an epoch; to the leader.
  virtual void epoch_done([[maybe_unused]] const EpochResult& result) {}
};

}  // namespace tensorplay::train
