#include "tools/train/trainer.h"

#include <tensorplay/distributed/algorithms/join.h>
#include <tensorplay/error.h>
#include <tensorplay/optim/adam.h>
#include <tensorplay/optim/sgd.h>

#include <fmt/core.h>
#include <array>
#include <cmath>
#include <utility>

namespace tensorplay::train {
namespace {

using distributed::algorithms::JoinOptions;
using distributed::algorithms::JoinReport;

Sharding sharding_of(const Dataset& dataset, const Settings& settings, int rank_count) {
  std::vector<double> shares = settings.shares;
  if (shares.empty()) shares.assign(static_cast<std::size_t>(rank_count), 1.0);
  return {dataset.training.count(), shares, settings.batch_rows};
}

NetworkShape shape_of(const Dataset& dataset, const Settings& settings) {
  return {static_cast<std::size_t>(dataset.training.inputs.cols()), settings.hidden,
          static_cast<std::size_t>(dataset.class_count)};
}

std::vector<nn::parallel::Parameter> parameters_of(Network& network) {
  std::vector<nn::parallel::Parameter> parameters;
  for (const Network::Tensor& tensor : network.tensors()) {
    parameters.push_back({tensor.name, tensor.value, tensor.gradient});
  }
  return parameters;
}

std::unique_ptr<optim::Optimizer> optimizer_for(Network& network, const Settings& settings) {
  std::vector<optim::Tensor> tensors;
  for (const Network::Tensor& tensor : network.tensors()) {
    tensors.push_back({tensor.value, tensor.gradient});
  }
  if (settings.optimizer == OptimizerKind::sgd) {
    return std::make_unique<optim::SGD>(std::move(tensors),
                                        optim::SGDOptions{.learning_rate = settings.learning_rate,
                                                          .momentum = settings.momentum,
                                                          .weight_decay = settings.weight_decay});
  }
  const optim::AdamOptions options{.learning_rate = settings.learning_rate,
                                   .weight_decay = settings.weight_decay};
  if (settings.optimizer == OptimizerKind::adam) {
    return std::make_unique<optim::Adam>(std::move(tensors), options);
  }
  return std::make_unique<optim::AdamW>(std::move(tensors), options);
}

JoinOptions join_options(const Settings& settings) {
  return {.throw_on_early_termination = settings.throw_on_early_termination,
          .kwargs = {{"divide_by_initial_world_size", settings.divisor == Divisor::initial}}};
}

void add(RunReport& report, const JoinReport& context) {
  for (std::size_t rank = 0; rank < report.ranks.size(); ++rank) {
    const JoinReport::Rank& in_context = context.ranks[rank];
    RankAccount& account = report.ranks[rank];
    account.iterations += in_context.iterations;
    account.shadowed += in_context.shadowed;
    account.waiting += in_context.waiting;
    account.joined_at = in_context.iterations;
  }
  report.last_joiners = context.last_joiners.ranks();
}

}  // namespace

Trainer::Trainer(const distributed::ProcessGroup& group, const Dataset& dataset,
                 const Settings& settings, TrainingObserver& observer)
    : group_(group),
      dataset_(dataset),
      settings_(settings),
      observer_(observer),
      sharding_(sharding_of(dataset, settings, group.size())),
      training_part_(dataset.training.part(group.rank(), group.size())),
      test_part_(dataset.test.part(group.rank(), group.size())),
      network_(shape_of(dataset, settings), settings.seed),
      model_(parameters_of(network_), group, {.bucket_bytes = settings.bucket_kib * 1024}),
      optimizer_(optimizer_for(network_, settings)) {}

RunReport Trainer::run() {
  RunReport report = empty_report();
  for (int epoch = 1; epoch <= settings_.epochs; ++epoch) {
    train_epoch(epoch, report);
    report.epochs.push_back(measure(epoch));
    observer_.epoch_done(report.epochs.back());
  }
  gather_checksums(report);
  return report;
}

void Trainer::train_epoch(int epoch, RunReport& report) {
  const auto order = epoch_order(dataset_.training.count(), settings_.seed, epoch);
  const auto batches = sharding_.batches(group_.rank(), order);
  add(report, with_join({model_}, join_options(settings_), [&] { train_batches(epoch, batches); }));
  share_optimizer_state();
}

void Trainer::train_batches(int epoch, std::span<const Sharding::Batch> batches) {
  const float weight = 1.0f / static_cast<float>(settings_.batch_rows);
  for (std::size_t i = 0; i < batches.size(); ++i) {
    model_.forward();
    network_.compute_gradients(dataset_.training.rows(batches[i]), weight,
                               [this](std::size_t tensor) { model_.gradient_ready(tensor); });
    model_.synchronize();
    optimizer_->step();
    observer_.batch_done(epoch, i + 1, batches.size());
  }
}

// The model is the last joiner's already; its history of gradients has to be, too.
void Trainer::share_optimizer_state() {
  for (std::span<float> part : optimizer_->state()) {
    group_.broadcast(part, model_.authoritative_rank());
  }
}

EpochResult Trainer::measure(int epoch) {
  const Score training = network_.score(training_part_);
  const Score test = network_.score(test_part_);
  std::array<double, 2> losses{training.loss, test.loss};
  std::array<std::int64_t, 2> correct{training.correct, test.correct};
  group_.all_reduce(std::span<double>(losses));
  group_.all_reduce(std::span<std::int64_t>(correct));
  if (!std::isfinite(losses[0]) || !std::isfinite(losses[1])) {
    throw InvalidArgument(fmt::format(
        "the loss is no finite number any more after epoch {}; lower --learning-rate", epoch));
  }
  const auto training_rows = static_cast<double>(dataset_.training.count());
  const auto test_rows = static_cast<double>(dataset_.test.count());
  return {epoch, losses[0] / training_rows, losses[1] / test_rows,
          static_cast<double>(correct[0]) / training_rows,
          static_cast<double>(correct[1]) / test_rows};
}

void Trainer::gather_checksums(RunReport& report) {
  const std::uint64_t mine = model_.checksum();
  std::vector<std::uint64_t> all(report.ranks.size());
  group_.all_gather(std::span<const std::uint64_t>(&mine, 1), std::span(all));
  for (std::size_t rank = 0; rank < all.size(); ++rank) report.ranks[rank].checksum = all[rank];
}

RunReport Trainer::empty_report() const {
  RunReport report{.settings = settings_,
                   .training_rows = dataset_.training.count(),
                   .test_rows = dataset_.test.count(),
                   .input_count = static_cast<std::size_t>(dataset_.training.inputs.cols()),
                   .class_count = static_cast<std::size_t>(dataset_.class_count),
                   .epochs = {},
                   .ranks = {},
                   .last_joiners = {}};
  for (int rank = 0; rank < group_.size(); ++rank) {
    RankAccount account;
    account.row_count = sharding_.row_count(rank);
    account.batch_count = sharding_.batch_count(rank);
    report.ranks.push_back(account);
  }
  return report;
}

std::string Trainer::parameters() {
  std::string text;
  for (const Network::Tensor& tensor : network_.tensors()) {
    text += fmt::format("# {} {}\n", tensor.name, tensor.value.size());
    for (float value : tensor.value) text += fmt::format("{}\n", value);
  }
  return text;
}

}  // namespace tensorplay::train
