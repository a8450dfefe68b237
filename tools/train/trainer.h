// One rank's part in the training of one model by all ranks of a group.
#pragma once

#include "tools/train/dataset.h"
#include "tools/train/network.h"
#include "tools/train/run_report.h"
#include "tools/train/settings.h"
#include "tools/train/sharding.h"
#include "tools/train/training_observer.h"

#include <tensorplay/distributed/algorithms/join_report.h>
#include <tensorplay/distributed/process_group.h>
#include <tensorplay/nn/parallel/distributed_data_parallel.h>
#include <tensorplay/optim/optimizer.h>

#include <array>
#include <memory>
#include <span>
#include <string>

namespace tensorplay::train {

// Trains and measures. Every rank makes one from the same dataset and settings, and calls the same
// methods in the same order: run() is collective.
//
// An epoch is one Join context around this rank's batches, whose number differs from rank to rank.
// After it all ranks hold the model and the optimizer's state of the rank that joined last, so that
// the next epoch starts from equal replicas.
//
// The gradient of a batch is the sum over its rows divided by the settings' batch_rows, in a short
// last batch too: with the divisor `initial` each row of a step weighs the same wherever it was
// dealt, and even shards make the steps of a single process with world size times the batch.
//
// Where the group goes on without ranks that die, so does the run. What they had left of their rows
// in that epoch isn't trained on; from the next one on, what would fall to them falls to the ranks
// that live, and so does what they would measure.
class Trainer {
 public:
  // `dataset` and `observer` have to outlive the trainer. The settings fit the group (require_fit).
  Trainer(const distributed::ProcessGroup& group, const Dataset& dataset, const Settings& settings,
          TrainingObserver& observer);

  // All epochs. Gives the same report on all ranks that live. Throws InvalidArgument on all ranks
  // when the loss is no finite number any more; EarlyTermination if the settings ask for it; what
  // collectives throw.
  RunReport run();

  // The parameters as text: for each tensor a line "# name count", then one number a line, with
  // digits enough to restore every bit.
  std::string parameters();

  // The lowest rank that lives, as far as the last measurement knew: it speaks for all.
  int leader() const { return living_.ranks().front(); }

 private:
  void train_epoch(int epoch, RunReport& report);
  void train_batches(int epoch, std::span<const Sharding::Batch> batches);
  void add(const distributed::algorithms::JoinReport& context, RunReport& report) const;
  void share_optimizer_state(std::span<const int> last_joiners);
  bool broadcast_optimizer_state(int owner);
  int next_owner(std::span<const int> last_joiners);
  std::array<double, 4> own_scores() const;
  EpochResult measure(int epoch);
  void go_on_with(const distributed::Contributors& living);
  void divide_measuring();
  bool leads() const { return leader() == group_.rank(); }
  void gather_checksums(RunReport& report);
  RunReport empty_report() const;

  distributed::ProcessGroup group_;
  const Dataset& dataset_;
  Settings settings_;
  TrainingObserver& observer_;
  distributed::Contributors living_;  // as of the last measurement: the same on all of them
  Sharding sharding_;
  // What this rank measures of each epoch.
  Examples training_part_;
  Examples test_part_;
  Network network_;
  nn::parallel::DistributedDataParallel model_;
  std::unique_ptr<optim::Optimizer> optimizer_;
};

}  // namespace tensorplay::train
