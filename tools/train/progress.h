// Shows how far a run has come.
#pragma once

#include "tools/train/training_observer.h"

#include <chrono>
#include <cstddef>
#include <ostream>
#include <string>

namespace tensorplay::train {

// On a terminal a bar in one line, which is redrawn and gone at the end; elsewhere one plain line
// an epoch. `stream` has to outlive it.
class Progress : public TrainingObserver {
 public:
  Progress(std::ostream& stream, bool is_terminal, int epoch_count);
  ~Progress() override;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void batch_done(int epoch, std::size_t done, std::size_t count) override;
  void epoch_done(const EpochResult& result) override;

 private:
  void draw(int epochs_done, double share_of_epoch);

  std::ostream& stream_;
  bool is_terminal_;
  bool is_drawn_ = false;
  int epoch_count_;
  std::string result_;  // of the last epoch, in words
  std::chrono::steady_clock::time_point drawn_{};
};

}  // namespace tensorplay::train
