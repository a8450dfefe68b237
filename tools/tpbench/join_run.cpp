#include "tools/tpbench/join_run.h"

#include "tools/tpbench/collective_run.h"
#include "tools/tpbench/interleaving.h"
#include "tools/tpbench/job.h"
#include "tools/tpbench/join_measurements.h"
#include "tools/tpbench/limit_job.h"
#include "tools/tpbench/statistics.h"
#include "tools/tpbench/torch_join.h"
#include "tools/train/output_file.h"

#include <tensorplay/error.h>

#include <fmt/core.h>
#include <algorithm>
#include <exception>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

namespace tensorplay::tpbench {
namespace {

// Lines that PyTorch has, too.
constexpr const char* kNotify4 = "notification, 4 ranks";
constexpr const char* kNotify8 = "notification, 8 ranks";
constexpr const char* kAgree4 = "notification under throw, 4 ranks";
constexpr const char* kShadow2 = "iteration, 1 of 2 has joined and shadows";
constexpr const char* kShadow4 = "iteration, 1 of 4 has joined and shadows";
constexpr const char* kTrainingOff = "DDP iteration, 2 ranks, Join off";
constexpr const char* kTrainingOn = "DDP iteration, 2 ranks, Join on";
constexpr const char* kTrainingUneven = "DDP iteration, 2 ranks, 1 joins after a half";

using Json = nlohmann::ordered_json;

constexpr double kNano = 1e9, kMicro = 1e6, kMilli = 1e3, kKibi = 1.0 / 1024;
constexpr int kInitRanks = 8;
constexpr const char* kTorch = "torch";
constexpr int kTorchIterations = 400;
constexpr std::size_t kSmall = std::size_t{1} << 10, kLarge = std::size_t{1} << 20;

// Lines in the order in which they were first told, a value per repeat.
class Table {
 public:
  void add(const char* what, const char* unit, double value) {
    const auto known = std::ranges::find(figures_, what, &JoinFigure::what);
    JoinFigure& figure = known != figures_.end() ? *known : figures_.emplace_back();
    figure.what = what;
    figure.unit = unit;
    figure.repeats.push_back(value);
  }
  // Of a line that has been told.
  void add_peer(const char* what, const char* peer, double value) {
    const auto known = std::ranges::find(figures_, what, &JoinFigure::what);
    if (known != figures_.end()) known->peers[peer].push_back(value);
  }
  std::vector<JoinFigure> take() { return std::move(figures_); }

 private:
  std::vector<JoinFigure> figures_;
};

JoinEffort effort_of(const Settings& settings) {
  if (settings.iterations == 0) return {};
  const auto few = static_cast<int>(std::min<std::size_t>(settings.iterations, 1000));
  return {.notifications = few * 100,
          .iterations = few * 10,
          .training_blocks = few,
          .training_iterations = few};
}

class JoinRun {
 public:
  explicit JoinRun(const Settings& settings)
      : settings_(settings), effort_(effort_of(settings)), limits_(start_limit_job(2, 1)) {
    if (settings.mode != Mode::join || !settings.peers_are_found) return;
    try {
      python_ = find_torch_python();
    } catch (const std::exception& error) {
      go_without_torch(error);
    }
  }

  std::vector<JoinFigure> run() {
    for (int i = 0; i < settings_.repeats; ++i) {
      notifications();
      contexts();
      active_ranks(join_figure::kActiveRatio, kSmall);
      active_ranks(join_figure::kActiveRatioLarge, kLarge);
      training();
      starts();
      torch();
    }
    return table_.take();
  }

 private:
  double probe() { return limits_->perform({.task = Task::line, .budget_s = 0.004}).median; }

  Repeat in_turns(const std::vector<std::function<Summary()>>& contestants) {
    return take_repeat(contestants, [this] { return probe(); }, {.tries_max = settings_.tries});
  }

  void notifications() {
    table_.add(join_figure::kNotify, "ns", median(time_notifications(2, effort_)) * kNano);
    table_.add(kNotify4, "ns", median(time_notifications(4, effort_)) * kNano);
    table_.add(kNotify8, "ns", median(time_notifications(8, effort_)) * kNano);
    const Repeat repeat =
        in_turns({[&] { return summarise(time_agreeing_notifications(2, effort_)); }});
    const double seconds = repeat.results[0].median;
    table_.add(join_figure::kAgree, "us", seconds * kMicro);
    table_.add(join_figure::kAgreeToLine, "x", seconds / median(repeat.probes));
    table_.add(kAgree4, "us", median(time_agreeing_notifications(4, effort_)) * kMicro);
  }

  void contexts() {
    table_.add("joining, 2 ranks", "us", median(time_joining(2, effort_)) * kMicro);
    table_.add("joining, 4 ranks", "us", median(time_joining(4, effort_)) * kMicro);
    table_.add("iteration, 1 of 2 has joined and sleeps", "us",
               median(time_iterations(2, Joined::asleep, effort_)) * kMicro);
    table_.add(kShadow2, "us", median(time_iterations(2, Joined::in_step, effort_)) * kMicro);
    table_.add(kShadow4, "us", median(time_iterations(4, Joined::in_step, effort_)) * kMicro);
  }

  void active_ranks(const char* what, std::size_t bytes) {
    JoinEffort effort = effort_;
    if (bytes >= kLarge) effort.iterations = std::max(1, effort.iterations / 4);
    const Repeat repeat =
        in_turns({[&] { return summarise(time_active_ranks(2, 2, bytes, effort)); },
                  [&] { return summarise(time_active_ranks(2, 0, bytes, effort)); }});
    table_.add(what, "x", repeat.results[0].median / repeat.results[1].median);
  }

  void training() {
    const TrainingTimes times = time_training(2, effort_);
    table_.add(kTrainingOff, "us", median(times.disabled) * kMicro);
    table_.add(kTrainingOn, "us", median(times.enabled) * kMicro);
    table_.add(kTrainingUneven, "us", median(times.uneven) * kMicro);
    table_.add(join_figure::kTrainingRatio, "x", median_ratio(times.enabled, times.disabled));
  }

  void starts() {
    const SpawnTimes spawned = time_spawn(kInitRanks);
    table_.add(join_figure::kStart, "ms", spawned.ready * kMilli);
    table_.add("spawn until all have ended, 8 ranks", "ms", spawned.end * kMilli);
    table_.add("init_process_group by name, 8 ranks", "ms",
               std::ranges::max(time_init(kInitRanks)) * kMilli);
    table_.add(join_figure::kSegment, "KiB", segment_bytes(kInitRanks) * kKibi);
  }

  void torch() {
    if (python_.empty()) return;
    try {
      add(time_torch(python_, peer_folder() + "/torch_join_peer.py",
                     std::min(kTorchIterations, effort_.iterations)));
    } catch (const std::exception& error) {  // whatever it is, our own figures stay
      go_without_torch(error);
    }
  }

  void go_without_torch(const std::exception& error) {
    std::cerr << "tpbench: without torch: " << error.what() << std::endl;
    python_.clear();
  }

  void add(const TorchTimes& times) {
    const auto add = [&](const char* line, const char* what, int ranks, double unit) {
      table_.add_peer(line, kTorch, times.at({what, ranks}) * unit);
    };
    add(join_figure::kNotify, "notify", 2, kNano);
    add(kNotify4, "notify", 4, kNano);
    add(kNotify8, "notify", 8, kNano);
    add(join_figure::kAgree, "throw", 2, kMicro);
    add(kAgree4, "throw", 4, kMicro);
    add(kShadow2, "shadow", 2, kMicro);
    add(kShadow4, "shadow", 4, kMicro);
    add(kTrainingOff, "off", 2, kMicro);
    add(kTrainingOn, "on", 2, kMicro);
    add(kTrainingUneven, "uneven", 2, kMicro);
    add(join_figure::kTrainingRatio, "on", 2, 1 / times.at({"off", 2}));
  }

  const Settings& settings_;
  JoinEffort effort_;
  std::string python_;  // that has PyTorch; empty: go without
  std::unique_ptr<Job> limits_;
  Table table_;
};

std::string value_text(double value) {
  return value < 10 ? fmt::format("{:.3f}", value) : fmt::format("{:.1f}", value);
}

std::set<std::string> peer_names_in(std::span<const JoinFigure> figures) {
  std::set<std::string> names;
  for (const JoinFigure& figure : figures) {
    for (const auto& [name, repeats] : figure.peers) names.insert(name);
  }
  return names;
}

}  // namespace

std::vector<JoinFigure> measure_join(const Settings& settings) {
  return JoinRun(settings).run();
}

std::string join_table(std::span<const JoinFigure> figures) {
  const std::set<std::string> peers = peer_names_in(figures);
  std::string text =
      fmt::format("{:<52} {:>10} {:>10} {:>10}     ", "", "median", "least", "greatest");
  for (const std::string& peer : peers) text += fmt::format(" {:>12}", peer);
  text += "\n";
  for (const JoinFigure& figure : figures) {
    const auto [least, most] = std::ranges::minmax(figure.repeats);
    text += fmt::format("{:<52} {:>10} {:>10} {:>10} {:<4}", figure.what,
                        value_text(median(figure.repeats)), value_text(least), value_text(most),
                        figure.unit);
    for (const std::string& peer : peers) {
      const auto found = figure.peers.find(peer);
      text += fmt::format(" {:>12}",
                          found == figure.peers.end() ? "-" : value_text(median(found->second)));
    }
    text += "\n";
  }
  return text;
}

std::string join_json(std::span<const JoinFigure> figures) {
  Json report = {{"join", Json::array()}};
  for (const JoinFigure& figure : figures) {
    report["join"].push_back({{"what", figure.what},
                              {"unit", figure.unit},
                              {"median", median(figure.repeats)},
                              {"repeats", figure.repeats},
                              {"peers", figure.peers}});
  }
  return report.dump(2) + "\n";
}

int run_join(const Settings& settings) {
  const auto figures = measure_join(settings);
  std::cout << join_table(figures);
  if (!settings.json_path.empty()) train::write_atomically(settings.json_path, join_json(figures));
  return 0;
}

}  // namespace tensorplay::tpbench
