#include "tools/train/trainer.h"

#include <tensorplay/distributed/algorithms/join.h>
#include <tensorplay/error.h>
#include <tensorplay/optim/adam.h>
#include <tensorplay/optim/sgd.h>

#include <fmt/core.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace tensorplay::train {
namespace {

using distributed::Contributors;
using distributed::algorithms::JoinOptions;
using distributed::algorithms::JoinReport;

// What falls to the dead is shared by the living in the proportions of their own shares; evenly if
// none of them has one.
Sharding sharding_of(const Dataset& dataset, const Settings& settings, int rank_count,
                     const Contributors& living) {
  std::vector<double> shares(static_cast<std::size_t>(rank_count), 0.0);
  const auto share_out = [&](const auto& share_of) {
    living.for_each([&](int rank) {
      const auto place = static_cast<std::size_t>(rank);
      shares[place] = share_of(place);
    });
  };
  if (!settings.shares.empty()) share_out([&](std::size_t rank) { return settings.shares[rank]; });
  const bool has_none = std::ranges::all_of(shares, [](double share) { return share == 0; });
  if (has_none) share_out([](std::size_t) { return 1.0; });
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

Contributors all_ranks(int count) {
  Contributors ranks;
  for (int rank = 0; rank < count; ++rank) ranks.insert(rank);
  return ranks;
}

void note_loss(Loss loss, RunReport& report) {
  const bool is_known = std::ranges::any_of(
      report.losses, [&](const Loss& other) { return other.rank == loss.rank; });
  if (!is_known) report.losses.push_back(std::move(loss));
}

void note_deaths(int epoch, const JoinReport& context, RunReport& report) {
  for (const JoinReport::Death& death : context.deaths) {
    const std::string where = death.iteration < 1 ? "before its first batch"
                                                  : fmt::format("in its batch {}", death.iteration);
    note_loss({death.rank, epoch, fmt::format("{}: pid {} {}", where, death.pid, death.how)},
              report);
  }
}

// Those who died outside of the contexts, or when they had joined.
void note_missing(int epoch, const Contributors& living, const char* where, RunReport& report) {
  for (int rank = 0; rank < static_cast<int>(report.ranks.size()); ++rank) {
    if (!living.contains(rank)) note_loss({rank, epoch, where}, report);
  }
}

}  // namespace

Trainer::Trainer(const distributed::ProcessGroup& group, const Dataset& dataset,
                 const Settings& settings, TrainingObserver& observer)
    : group_(group),
      dataset_(dataset),
      settings_(settings),
      observer_(observer),
      living_(all_ranks(group.size())),
      sharding_(sharding_of(dataset, settings, group.size(), living_)),
      network_(shape_of(dataset, settings), settings.seed),
      model_(parameters_of(network_), group, {.bucket_bytes = settings.bucket_kib * 1024}),
      optimizer_(optimizer_for(network_, settings)) {
  divide_measuring();
}

RunReport Trainer::run() {
  RunReport report = empty_report();
  for (int epoch = 1; epoch <= settings_.epochs; ++epoch) {
    observer_.epoch_begins(epoch);
    train_epoch(epoch, report);
    report.epochs.push_back(measure(epoch));
    note_missing(epoch, living_, "after its last batch", report);
    if (leads()) observer_.epoch_done(report.epochs.back());
  }
  observer_.epochs_end();
  gather_checksums(report);
  note_missing(settings_.epochs, living_, "after the epoch", report);
  return report;
}

void Trainer::train_epoch(int epoch, RunReport& report) {
  const auto order = epoch_order(dataset_.training.count(), settings_.seed, epoch);
  const auto batches = sharding_.batches(group_.rank(), order);
  const JoinReport context =
      with_join({model_}, join_options(settings_), [&] { train_batches(epoch, batches); });
  add(context, report);
  note_deaths(epoch, context, report);
  share_optimizer_state(report.last_joiners);
}

void Trainer::add(const JoinReport& context, RunReport& report) const {
  for (std::size_t rank = 0; rank < report.ranks.size(); ++rank) {
    const JoinReport::Rank& in_context = context.ranks[rank];
    RankAccount& account = report.ranks[rank];
    if (!living_.contains(static_cast<int>(rank))) continue;
    account.row_count = sharding_.row_count(static_cast<int>(rank));
    account.batch_count = sharding_.batch_count(static_cast<int>(rank));
    account.iterations += in_context.iterations;
    account.shadowed += in_context.shadowed;
    account.waiting += in_context.waiting;
    account.joined_at = in_context.iterations;
    report.trained_rows += std::min(
        account.row_count, static_cast<std::size_t>(in_context.iterations) * settings_.batch_rows);
  }
  report.last_joiners = context.last_joiners.ranks();
}

void Trainer::train_batches(int epoch, std::span<const Sharding::Batch> batches) {
  const float weight = 1.0f / static_cast<float>(settings_.batch_rows);
  for (std::size_t i = 0; i < batches.size(); ++i) {
    model_.forward();
    network_.compute_gradients(dataset_.training.rows(batches[i]), weight,
                               [this](std::size_t tensor) { model_.gradient_ready(tensor); });
    model_.synchronize();
    optimizer_->step();
    if (leads()) observer_.batch_done(epoch, i + 1, batches.size());
  }
}

// The model is the last joiner's already; its history of gradients has to be, too.
void Trainer::share_optimizer_state(std::span<const int> last_joiners) {
  int owner = model_.authoritative_rank();
  while (!broadcast_optimizer_state(owner)) owner = next_owner(last_joiners);
}

// False if the owner has died before all had its state.
bool Trainer::broadcast_optimizer_state(int owner) {
  try {
    for (std::span<float> part : optimizer_->state()) group_.broadcast(part, owner);
    return true;
  } catch (const PeerFailure& failure) {
    if (failure.rank() != owner) throw;
    return false;
  }
}

// All last joiners hold the same state: they have made all steps. If none of them lives, some other
// rank's has to do: a little older, but one for all. Throws if the group has failed for good.
int Trainer::next_owner(std::span<const int> last_joiners) {
  const Contributors living = group_.barrier();
  for (int rank : last_joiners) {
    if (living.contains(rank)) return rank;
  }
  return living.highest();
}

void Trainer::go_on_with(const Contributors& living) {
  living_ = living;
  sharding_ = sharding_of(dataset_, settings_, group_.size(), living_);
  divide_measuring();
}

void Trainer::divide_measuring() {
  const std::vector<int> ranks = living_.ranks();
  const auto place = std::ranges::find(ranks, group_.rank()) - ranks.begin();
  const auto count = static_cast<int>(ranks.size());
  training_part_ = dataset_.training.part(static_cast<int>(place), count);
  test_part_ = dataset_.test.part(static_cast<int>(place), count);
}

// Loss and right answers among the training rows, then among the test rows, of this rank's parts.
std::array<double, 4> Trainer::own_scores() const {
  const Score training = network_.score(training_part_);
  const Score test = network_.score(test_part_);
  return {training.loss, static_cast<double>(training.correct), test.loss,
          static_cast<double>(test.correct)};
}

// Measures once more, in larger parts, if a rank has died and its part is missing.
EpochResult Trainer::measure(int epoch) {
  std::array<double, 4> scores;
  for (;;) {
    scores = own_scores();
    const Contributors measured = group_.all_reduce(std::span<double>(scores));
    if (measured == living_) break;
    go_on_with(measured);
  }
  if (!std::isfinite(scores[0]) || !std::isfinite(scores[2])) {
    throw InvalidArgument(fmt::format(
        "the loss is no finite number any more after epoch {}; lower --learning-rate", epoch));
  }
  const auto training_rows = static_cast<double>(dataset_.training.count());
  const auto test_rows = static_cast<double>(dataset_.test.count());
  return {.epoch = epoch,
          .training_loss = scores[0] / training_rows,
          .test_loss = scores[2] / test_rows,
          .training_accuracy = scores[1] / training_rows,
          .test_accuracy = scores[3] / test_rows};
}

void Trainer::gather_checksums(RunReport& report) {
  const std::uint64_t mine = model_.checksum();
  std::vector<std::uint64_t> all(report.ranks.size());
  living_ = group_.all_gather(std::span<const std::uint64_t>(&mine, 1), std::span(all));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    report.ranks[rank].checksum = all[rank];
    report.ranks[rank].is_lost = !living_.contains(static_cast<int>(rank));
  }
}

RunReport Trainer::empty_report() const {
  RunReport report{.settings = settings_,
                   .training_rows = dataset_.training.count(),
                   .test_rows = dataset_.test.count(),
                   .input_count = static_cast<std::size_t>(dataset_.training.inputs.cols()),
                   .class_count = static_cast<std::size_t>(dataset_.class_count),
                   .epochs = {},
                   .ranks = {},
                   .losses = {},
                   .last_joiners = {}};
  report.ranks.resize(static_cast<std::size_t>(group_.size()));
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
