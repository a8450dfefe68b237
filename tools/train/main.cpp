// train: a network trained by all ranks of a job together. See train --help.

#include "tools/train/csv_file.h"
#include "tools/train/curve_plot.h"
#include "tools/train/dataset.h"
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
#include <exception>
#include <filesystem>
#include <iostream>
#include <optional>
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

using distributed::ProcessGroupOptions;

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

// All that can be wrong with the input is found, alike on all ranks, before they meet.
int train(const Settings& settings, const ProcessGroupOptions& job) {
  require_fit(settings, job.world_size);
  const Dataset dataset = divide(read_csv_file(settings.data_path), settings.seed);
  const auto group = distributed::init_process_group(job);

  TrainingObserver nobody;
  std::optional<Progress> progress;
  if (group.rank() == 0) {
    progress.emplace(std::cerr, ::isatty(STDERR_FILENO) == 1, settings.epochs);
  }
  Trainer trainer(group, dataset, settings,
                  progress ? static_cast<TrainingObserver&>(*progress) : nobody);
  const RunReport report = trainer.run();
  progress.reset();
  if (group.rank() == 0) {
    std::cout << summary(report) << std::flush;
    write_files(report, trainer);
  }
  return report.checksums_equal() ? exit_code::kSuccess : exit_code::kChecksumsDiffer;
}

// Whether this rank tells of an error. What is wrong with the input is wrong on all ranks: one line
// is enough. A rank's end is told by one that is still there, missing inputs where they are
// missing.
bool tells(const std::exception& error, int rank) {
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
  int rank = 0;  // until the environment has told: every process tells its own
  try {
    const ProcessGroupOptions job = distributed::from_environment();
    rank = job.rank;
    return train(parse_settings(arguments), job);
  } catch (const std::exception& error) {
    if (tells(error, rank)) {
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
