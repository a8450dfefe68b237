// train: a network trained by all ranks of a job together. See train --help.

#include "tools/train/csv_file.h"
#include "tools/train/curve_plot.h"
#include "tools/train/dataset.h"
#include "tools/train/killing.h"
#include "tools/train/output_file.h"
#include "tools/train/progress.h"
#include "tools/train/settings.h"
#include "tools/train/summary.h"
#include "tools/train/trainer.h"

#include <tensorplay/distributed/process_group.h>
#include <tensorplay/error.h>

#include <fmt/core.h>
#include <unistd.h>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace tensorplay::train {
namespace {

namespace exit_code {
constexpr int kSuccess = 0;
constexpr int kChecksumsDiffer = 1;
constexpr int kError = 2;  // one line on stderr says what to do
}  // namespace exit_code

using distributed::Contributors;
using distributed::PeerFailurePolicy;
using distributed::ProcessGroup;
using distributed::ProcessGroupOptions;

// What a rank that trains shows, and whether it is to be killed.
class RunWatch : public TrainingObserver {
 public:
  RunWatch(const Settings& settings, const ProcessGroup& group)
      : progress_(std::cerr, ::isatty(STDERR_FILENO) == 1, settings.epochs) {
    if (settings.kill_count == 0) return;
    for (const Killing& killing :
         plan_killings(settings.kill_count, group.size(), settings.epochs, *settings.kill_seed)) {
      if (killing.rank == group.rank()) death_.emplace(killing, *settings.kill_seed);
    }
  }
  void epoch_begins(int epoch) override {
    if (death_) death_->epoch_begins(epoch);
  }
  void batch_done(int epoch, std::size_t done, std::size_t count) override {
    progress_.batch_done(epoch, done, count);
  }
  void epoch_done(const EpochResult& result) override { progress_.epoch_done(result); }
  // The clock of the last epoch may be late, and who is to be killed isn't to count as a survivor.
  void epochs_end() override {
    if (death_) death_->wait();
  }

 private:
  Progress progress_;
  std::optional<PlannedDeath> death_;
};

std::string caption(const RunReport& report) {
  const std::string file = std::filesystem::path(report.settings.data_path).filename().string();
  return fmt::format("{}, {} rank{}: {}", file, report.ranks.size(),
                     report.ranks.size() == 1 ? "" : "s", verdict(report));
}

void write_files(const RunReport& report, Trainer& trainer) {
  const Settings& settings = report.settings;
  if (!settings.report_path.empty()) write_atomically(settings.report_path, to_json(report));
  if (!settings.plot_path.empty()) {
    write_atomically(settings.plot_path, curve_plot(report.epochs, caption(report)));
  }
  if (!settings.model_path.empty()) write_atomically(settings.model_path, trainer.parameters());
}

// By the leader. Where the others go on without ranks that die, the next one takes over if the
// leader does: told twice rather than not at all.
void tell(const RunReport& report, Trainer& trainer, ProcessGroup group) {
  for (int leader = trainer.leader();;) {
    if (leader == group.rank()) {
      std::cout << summary(report) << std::flush;
      write_files(report, trainer);
    }
    if (!report.settings.survive) return;
    const Contributors living = group.barrier();
    if (living.contains(leader)) return;
    leader = living.ranks().front();
  }
}

// --survive and what a launcher has put into the environment: either says that the others go on,
// but a launcher that says they don't will end them.
void agree_on_policy(Settings& settings, ProcessGroupOptions& job) {
  const bool goes_on = job.on_peer_failure == PeerFailurePolicy::continue_without;
  if (settings.survive && !goes_on && std::getenv("TENSORPLAY_ON_PEER_FAILURE") != nullptr) {
    throw InvalidArgument(
        "--survive: the launcher will end all ranks when one dies; start by tprun --survive");
  }
  if (settings.survive) job.on_peer_failure = PeerFailurePolicy::continue_without;
  settings.survive = settings.survive || goes_on;
}

// Collective.
std::uint64_t random_seed(ProcessGroup group) {
  std::uint64_t seed = std::random_device()();
  group.all_reduce(std::span(&seed, 1), distributed::ReduceOp::max);
  return seed;
}

// All that can be wrong with the input is found, alike on all ranks, before they meet.
int train(Settings settings, ProcessGroupOptions job) {
  agree_on_policy(settings, job);
  require_fit(settings, job.world_size);
  const Dataset dataset = divide(read_csv_file(settings.data_path), settings.seed);
  const auto group = distributed::init_process_group(job);
  if (settings.kill_count > 0 && !settings.kill_seed) settings.kill_seed = random_seed(group);

  std::optional<RunWatch> watch(std::in_place, settings, group);
  Trainer trainer(group, dataset, settings, *watch);
  const RunReport report = trainer.run();
  watch.reset();
  tell(report, trainer, group);
  return report.checksums_equal() ? exit_code::kSuccess : exit_code::kChecksumsDiffer;
}

// Whether this rank tells of an error: every one does where others may be dead. Elsewhere, what is
// wrong with the input is wrong on all ranks: one line is enough. A rank's end is told by one that
// is still there, missing inputs where they are missing.
bool tells(const std::exception& error, const ProcessGroupOptions& job) {
  const int rank = job.rank;
  if (job.on_peer_failure == PeerFailurePolicy::continue_without) return true;
  if (const auto* failure = dynamic_cast<const PeerFailure*>(&error)) {
    return rank == (failure->rank() == 0 ? 1 : 0);
  }
  if (dynamic_cast<const EarlyTermination*>(&error) != nullptr) {
    return std::string_view(error.what()).starts_with("Rank ");
  }
  const bool on_all_ranks = dynamic_cast<const InvalidArgument*>(&error) != nullptr ||
                            dynamic_cast<const CollectiveMismatch*>(&error) != nullptr;
  return rank == 0 || !on_all_ranks;
}

int run(const std::vector<std::string>& arguments) {
  if (asks_for_help(arguments)) {
    std::cout << help_text();
    return exit_code::kSuccess;
  }
  ProcessGroupOptions job;
  job.rank = 0;  // until the environment has told: every process tells its own
  try {
    job = distributed::from_environment();
    return train(parse_settings(arguments), job);
  } catch (const std::exception& error) {
    if (tells(error, job)) {
      std::cerr << "train: " << error.what() << std::endl;
    } else {
      // A launcher ends all ranks when the first one fails: that has to be the one that tells.
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
    return exit_code::kError;
  }
}

}  // namespace
}  // namespace tensorplay::train

int main(int argc, char* argv[]) {
  return tensorplay::train::run(std::vector<std::string>(argv + 1, argv + argc));
}
