// What the command line asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tensorplay::train {

enum class OptimizerKind { sgd, adam, adamw };
const char* name(OptimizerKind kind) noexcept;

// What the sum of the ranks' gradients is divided by once ranks have joined.
enum class Divisor {
  initial,  // the number of ranks of the job
  active,   // the number of ranks that still have batches
};
const char* name(Divisor divisor) noexcept;

// All options, checked one by one; whether they fit the job is for require_fit to say. The same on
// all ranks.
struct Settings {
  // What to learn.
  std::string data_path;
  std::vector<double> shares;  // one per rank, or empty: even shares
  std::uint64_t seed = 1;

  // How to learn.
  int epochs = 20;
  std::size_t batch_rows = 16;  // per rank
  std::size_t hidden = 128;
  OptimizerKind optimizer = OptimizerKind::sgd;
  double learning_rate =
      0;                // set by parse_settings where it isn't given: it depends on the optimizer
  double momentum = 0;  // as learning_rate; of sgd only
  double weight_decay = 0;

  // How the ranks work together.
  std::size_t bucket_kib = 16;
  Divisor divisor = Divisor::initial;
  bool throw_on_early_termination = false;
  bool survive = false;  // ranks that die are done without
  int kill_count = 0;    // ranks to be killed at random moments
  std::optional<std::uint64_t> kill_seed;

  // What to leave behind; empty: nothing.
  std::string report_path;
  std::string plot_path;
  std::string model_path;
};

// The settings that `arguments` (without the program's name) ask for. Throws InvalidArgument with
// one line that says what to do.
Settings parse_settings(const std::vector<std::string>& arguments);

// Whether --help or -h is among the arguments, and what to print then.
bool asks_for_help(const std::vector<std::string>& arguments);
std::string help_text();

// Throws InvalidArgument unless the settings fit a job of `rank_count` ranks and the files they
// name can be written.
void require_fit(const Settings& settings, int rank_count);

}  // namespace tensorplay::train
