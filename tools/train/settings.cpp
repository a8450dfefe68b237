#include "tools/train/settings.h"

#include "tools/train/output_file.h"

#include <tensorplay/distributed/contributors.h>
#include <tensorplay/error.h>

#include <fmt/core.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <string_view>

namespace tensorplay::train {
namespace {

const std::map<std::string, OptimizerKind> kOptimizers = {
    {"sgd", OptimizerKind::sgd}, {"adam", OptimizerKind::adam}, {"adamw", OptimizerKind::adamw}};
const std::map<std::string, Divisor> kDivisors = {{"initial", Divisor::initial},
                                                  {"active", Divisor::active}};

constexpr double kSgdLearningRate = 0.1;
constexpr double kSgdMomentum = 0.9;
constexpr double kAdamLearningRate = 0.002;

// The texts of options that are more than a number or a name.
struct Raw {
  std::string shares;
  std::string optimizer = "sgd";
  std::string divisor = "initial";
};

double share_of(std::string_view text, const std::string& all) {
  double share = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), share);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(share)) {
    throw InvalidArgument(
        fmt::format("--shards {}: '{}' isn't a number; give one number per rank, as in 40,30,20,10",
                    all, text));
  }
  if (share < 0) {
    throw InvalidArgument(fmt::format(
        "--shards {}: '{}' is negative; the least is 0, a rank without rows", all, text));
  }
  return share;
}

std::vector<double> parse_shares(const std::string& text) {
  std::vector<double> shares;
  std::string_view rest = text;
  for (;;) {
    const std::size_t comma = rest.find(',');
    shares.push_back(share_of(rest.substr(0, comma), text));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (std::ranges::all_of(shares, [](double share) { return share == 0; })) {
    throw InvalidArgument(
        fmt::format("--shards {}: all are 0; at least one rank needs rows to train on", text));
  }
  return shares;
}

// Numbers in their range, each with a message that gives it. CLI11's own conversion takes -1 for an
// unsigned number and tells no range.
template <typename Number>
CLI::Validator in_range(Number least, Number most, const char* kind) {
  return {[=](const std::string& text) {
            Number value{};
            const char* end = text.data() + text.size();
            const auto [stop, error] = std::from_chars(text.data(), end, value);
            // A NaN is in no range.
            if (error == std::errc{} && stop == end && value >= least && value <= most)
              return std::string();
            return fmt::format("'{}' isn't a {} from {} to {}", text, kind, least, most);
          },
          fmt::format("{}..{}", least, most)};
}
CLI::Validator whole(std::uint64_t least, std::uint64_t most) {
  return in_range(least, most, "whole number");
}
CLI::Validator real(double least, double most) {
  return in_range(least, most, "number");
}

template <typename Value>
std::vector<std::string> keys(const std::map<std::string, Value>& map) {
  std::vector<std::string> names;
  names.reserve(map.size());
  for (const auto& [key, value] : map) names.push_back(key);
  return names;
}

void add_learning_options(CLI::App& app, Settings& settings, Raw& raw) {
  // An option that is given twice: the later one counts, so that scripts can be overridden.
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.add_option("--data", settings.data_path,
                 "CSV file: rows of numbers, the class 0..K-1 last, no header line")
      ->required();
  app.add_option("--shards", raw.shares,
                 "shares of the training rows, one number per rank: 40,30,20,10 (default: even)");
  app.add_option("--seed", settings.seed, "of the split, the weights and the order of rows")
      ->capture_default_str()
      ->check(whole(0, UINT64_MAX));
  app.add_option("--epochs", settings.epochs, "passes over the training rows")
      ->capture_default_str()
      ->check(whole(1, 1000000));
  app.add_option("--batch", settings.batch_rows, "rows of a batch, per rank")
      ->capture_default_str()
      ->check(whole(1, 1000000000));
  app.add_option("--hidden", settings.hidden, "units of the hidden layer")
      ->capture_default_str()
      ->check(whole(1, 65536));
  app.add_option("--optimizer", raw.optimizer, "sgd, adam or adamw")
      ->capture_default_str()
      ->check(CLI::IsMember(keys(kOptimizers)));
  app.add_option("--learning-rate", settings.learning_rate,
                 fmt::format("(default: {} for sgd, {} for adam and adamw)", kSgdLearningRate,
                             kAdamLearningRate))
      ->check(real(0, 1e6));
  app.add_option("--momentum", settings.momentum, fmt::format("of sgd (default: {})", kSgdMomentum))
      ->check(real(0, 0.9999));
  app.add_option("--weight-decay", settings.weight_decay,
                 "pulls parameters to zero: through the gradient, or by itself with adamw")
      ->capture_default_str()
      ->check(real(0, 1e6));
}

void add_group_options(CLI::App& app, Settings& settings, Raw& raw) {
  app.add_option("--bucket-kib", settings.bucket_kib,
                 "gradients are averaged in buckets of about this size")
      ->capture_default_str()
      ->check(whole(1, 1 << 20));
  app.add_option("--divide-by", raw.divisor,
                 "what the sum of gradients is divided by once ranks have run out of batches:\n"
                 "initial (all ranks) or active (those that haven't)")
      ->capture_default_str()
      ->check(CLI::IsMember(keys(kDivisors)));
  app.add_flag("--throw-on-early-termination", settings.throw_on_early_termination,
               "end with an error on all ranks as soon as one runs out of batches");
  app.add_flag("--survive", settings.survive,
               "go on without ranks that die (tprun --survive says so, too)");
  app.add_option("--kill", settings.kill_count,
                 "kill so many ranks at random moments; needs --survive")
      ->capture_default_str()
      ->check(whole(0, distributed::kRankCountMax - 1));
  app.add_option("--kill-seed", settings.kill_seed,
                 "of the ranks to kill and their moments (default: random)")
      ->check(whole(0, UINT64_MAX));
  app.add_option("--out", settings.report_path, "write a report of the run (JSON)");
  app.add_option("--plot", settings.plot_path,
                 "write loss and accuracy by epoch as a picture (SVG)");
  app.add_option("--model", settings.model_path, "write the final parameters, one number a line");
}

std::unique_ptr<CLI::App> make_parser(Settings& settings, Raw& raw) {
  auto app = std::make_unique<CLI::App>(
      "Trains a network with one hidden layer on labelled rows of numbers, by all ranks together.\n"
      "Started once per rank: tprun -n 4 -- train --data digits.csv --shards 40,30,20,10",
      "train");
  app->get_formatter()->column_width(34);
  add_learning_options(*app, settings, raw);
  add_group_options(*app, settings, raw);
  return app;
}

// Defaults that depend on the optimizer.
void fill_in(Settings& settings, const CLI::App& app) {
  const bool is_sgd = settings.optimizer == OptimizerKind::sgd;
  if (app.count("--learning-rate") == 0) {
    settings.learning_rate = is_sgd ? kSgdLearningRate : kAdamLearningRate;
  }
  if (is_sgd && app.count("--momentum") == 0) settings.momentum = kSgdMomentum;
  if (!is_sgd && app.count("--momentum") != 0) {
    throw InvalidArgument(fmt::format("--momentum is for sgd; leave it out with --optimizer {}",
                                      name(settings.optimizer)));
  }
}

void require_survivors(const Settings& settings, int rank_count) {
  if (settings.kill_count == 0) return;
  if (!settings.survive) {
    throw InvalidArgument(fmt::format(
        "--kill {}: the others would end, too; start by tprun --survive, or add --survive",
        settings.kill_count));
  }
  if (settings.kill_count >= rank_count) {
    throw InvalidArgument(
        fmt::format("--kill {} of {} rank{}: one has to survive; start more ranks",
                    settings.kill_count, rank_count, rank_count == 1 ? "" : "s"));
  }
}

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

const char* name(OptimizerKind kind) noexcept {
  switch (kind) {
    case OptimizerKind::sgd:
      return "sgd";
    case OptimizerKind::adam:
      return "adam";
    case OptimizerKind::adamw:
      return "adamw";
  }
  return "unknown";
}

const char* name(Divisor divisor) noexcept {
  return divisor == Divisor::initial ? "initial" : "active";
}

Settings parse_settings(const std::vector<std::string>& arguments) {
  Settings settings;
  Raw raw;
  const auto app = make_parser(settings, raw);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // as CLI11 wants them
  try {
    app->parse(std::move(reversed));
  } catch (const CLI::ParseError& error) {
    throw InvalidArgument(one_line(error.what()) + " (see train --help)");
  }
  if (app->count("--shards") != 0) settings.shares = parse_shares(raw.shares);
  settings.optimizer = kOptimizers.at(raw.optimizer);
  settings.divisor = kDivisors.at(raw.divisor);
  fill_in(settings, *app);
  return settings;
}

bool asks_for_help(const std::vector<std::string>& arguments) {
  return std::ranges::any_of(arguments, [](const std::string& argument) {
    return argument == "--help" || argument == "-h";
  });
}

std::string help_text() {
  Settings settings;
  Raw raw;
  return make_parser(settings, raw)->help();
}

void require_fit(const Settings& settings, int rank_count) {
  const auto share_count = settings.shares.size();
  if (share_count != 0 && share_count != static_cast<std::size_t>(rank_count)) {
    throw InvalidArgument(fmt::format(
        "--shards has {} share{} for {} rank{}; give one per rank, or start {} ranks", share_count,
        share_count == 1 ? "" : "s", rank_count, rank_count == 1 ? "" : "s", share_count));
  }
  require_survivors(settings, rank_count);
  require_different(settings.report_path, "--out", settings.data_path, "--data");
  require_different(settings.plot_path, "--plot", settings.data_path, "--data");
  require_different(settings.model_path, "--model", settings.data_path, "--data");
  require_different(settings.plot_path, "--plot", settings.report_path, "--out");
  require_different(settings.model_path, "--model", settings.report_path, "--out");
  require_different(settings.model_path, "--model", settings.plot_path, "--plot");
  if (!settings.report_path.empty()) require_writable(settings.report_path, "--out");
  if (!settings.plot_path.empty()) require_writable(settings.plot_path, "--plot");
  if (!settings.model_path.empty()) require_writable(settings.model_path, "--model");
}

}  // namespace tensorplay::train
