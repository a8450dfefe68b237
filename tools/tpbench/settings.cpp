#include "tools/tpbench/settings.h"

#include "tools/tpbench/peer_job.h"
#include "tools/tpbench/rig.h"
#include "tools/tpbench/size_range.h"
#include "tools/train/output_file.h"

#include <tensorplay/error.h>

#include <fmt/core.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <sstream>
#include <string_view>

namespace tensorplay::tpbench {
namespace {

using distributed::CollectiveKind;
using distributed::ReduceOp;

constexpr std::size_t kFewIterations = 3;
constexpr int kRepeatsMax = 1000;
constexpr int kTimeMax = 60000;

// The texts of options that are more than a number.
struct Raw {
  std::string kinds = "all_reduce";
  std::string dtypes = "float32";
  std::string ops = "sum";
  std::string sizes = "4:64Mi";
  std::string ranks = "2";
  std::string memories = "private,allocated,shared";
  std::string calls = "sync";
  std::string start = "auto";
  std::string iterations = "auto";
  std::string peers = "auto";
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

// Values by their names; "all" stands for each of them.
template <typename Value>
std::vector<Value> named(const char* option, const std::string& text,
                         const std::vector<Value>& known) {
  if (text == "all") return known;
  std::vector<Value> values;
  std::string names;
  for (const Value value : known) names += (names.empty() ? "" : ", ") + std::string(name(value));
  for (const std::string& part : split(text)) {
    const auto found =
        std::ranges::find_if(known, [&](Value value) { return part == name(value); });
    if (found == known.end()) {
      throw InvalidArgument(
          fmt::format("{} {}: '{}' is none of {}, all", option, text, part, names));
    }
    if (std::ranges::find(values, *found) == values.end()) values.push_back(*found);
  }
  if (values.empty()) throw InvalidArgument(fmt::format("{}: choose from {}, all", option, names));
  return values;
}

// The enumerators first ... last.
template <typename Enum>
std::vector<Enum> enumerators(Enum first, Enum last) {
  std::vector<Enum> values;
  for (int i = static_cast<int>(first); i <= static_cast<int>(last); ++i) {
    values.push_back(static_cast<Enum>(i));
  }
  return values;
}

std::size_t number(const char* option, const std::string& text, std::size_t least,
                   std::size_t most) {
  std::size_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc{} && stop == end && value >= least && value <= most) return value;
  throw InvalidArgument(
      fmt::format("{}: '{}' isn't a whole number from {} to {}", option, text, least, most));
}

std::vector<int> parse_ranks(const std::string& text) {
  std::vector<int> ranks;
  for (const std::string& part : split(text)) {
    ranks.push_back(static_cast<int>(number("--ranks", part, 2, kRanksMax)));
  }
  if (ranks.empty()) throw InvalidArgument("--ranks: give numbers of ranks, as in 2,4,8");
  return ranks;
}

void read(Settings& settings, const Raw& raw) {
  settings.kinds = named("--collectives", raw.kinds,
                         enumerators(CollectiveKind::barrier, CollectiveKind::all_to_all));
  settings.dtypes = named("--dtypes", raw.dtypes, enumerators(DType::int8, DType::float64));
  settings.ops = named("--ops", raw.ops, enumerators(ReduceOp::sum, ReduceOp::bxor));
  settings.sizes = parse_sizes(raw.sizes);
  settings.ranks = parse_ranks(raw.ranks);
  settings.memories = named("--memory", raw.memories, enumerators(Memory::own, Memory::shared));
  settings.calls = named("--calls", raw.calls, enumerators(Calls::blocking, Calls::asynchronous));
  settings.start =
      named("--start", raw.start, enumerators(Start::automatic, Start::back_to_back)).front();
  if (raw.iterations == "few") {
    settings.iterations = kFewIterations;
  } else if (raw.iterations != "auto") {
    settings.iterations = number("--iterations", raw.iterations, 1, kSamplesMax);
  }
  settings.peers_are_found = raw.peers == "auto";
  if (settings.peers_are_found || raw.peers == "none") return;
  settings.peers = split(raw.peers);
  for (const std::string& peer : settings.peers) {
    if (std::ranges::find(peer_names(), peer) != peer_names().end()) continue;
    throw InvalidArgument(fmt::format(
        "--peers {}: '{}' is none of openmpi, openmpi_ucx, mpich, gloo", raw.peers, peer));
  }
}

void add_points(CLI::App& app, Raw& raw) {
  app.add_option("--collectives", raw.kinds,
                 "all_reduce, reduce, broadcast, all_gather, reduce_scatter, gather, scatter,\n"
                 "all_to_all, barrier: a list, or all")
      ->capture_default_str();
  app.add_option("--dtypes", raw.dtypes, "int8 ... float64: a list, or all")->capture_default_str();
  app.add_option("--ops", raw.ops, "of reductions: sum ... bxor, a list, or all")
      ->capture_default_str();
  app.add_option("--sizes", raw.sizes,
                 "bytes of the larger buffer of a rank: 4:64Mi (by powers of 4), 4:64Mi:2 (of 2),\n"
                 "or a list")
      ->capture_default_str();
  app.add_option("--ranks", raw.ranks, "numbers of ranks, a list")->capture_default_str();
  app.add_option(
         "--memory", raw.memories,
         "of our buffers: private, allocated (in the segment), shared (allocated, with one result\n"
         "that all ranks read: all_reduce_shared); what a collective doesn't know is left out")
      ->capture_default_str();
  app.add_option(
         "--calls", raw.calls,
         fmt::format("sync, async ({} operations are started, then awaited)", kCallsInFlight))
      ->capture_default_str();
}

void add_manner(CLI::App& app, Settings& settings, Raw& raw) {
  app.add_option("--repeats", settings.repeats, "of each point; the medians over them are told")
      ->capture_default_str()
      ->check(CLI::Range(1, kRepeatsMax));
  app.add_option("--iterations", raw.iterations,
                 "samples of each contestant in each repeat: auto (by time), few, or a number")
      ->capture_default_str();
  app.add_option("--start", raw.start,
                 "of small operations: together (latency), back_to_back (throughput), or auto:\n"
                 "rooted ones together, others back to back")
      ->capture_default_str();
  app.add_option("--time-ms", settings.time_ms, "of each contestant in each repeat, about")
      ->capture_default_str()
      ->check(CLI::Range(1, kTimeMax));
  app.add_option("--tries", settings.tries,
                 "how often a repeat is taken while the machine changes under it")
      ->capture_default_str()
      ->check(CLI::Range(1, kRepeatsMax));
  app.add_option("--peers", raw.peers,
                 "openmpi, openmpi_ucx, mpich, gloo: a list; auto (those that are installed and\n"
                 "built); none. Speedups are over the best MPI; check leaves Gloo out")
      ->capture_default_str();
  app.add_option("--csv", settings.csv_path, "write a line per point and contestant (CSV)");
  app.add_option("--json", settings.json_path, "write all that was measured (JSON)");
  app.add_option("--svg", settings.svg_path, "write a plot of time by size (SVG)");
}

void require_writable_files(const Settings& settings) {
  using Named = std::pair<const char*, const std::string*>;
  const std::vector<Named> files = {{"--csv", &settings.csv_path},
                                    {"--json", &settings.json_path},
                                    {"--svg", &settings.svg_path}};
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      train::require_different(*files[i].second, files[i].first, *files[k].second, files[k].first);
    }
    if (!files[i].second->empty()) train::require_writable(*files[i].second, files[i].first);
  }
}

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

Settings parse_settings(const std::vector<std::string>& arguments) {
  CLI::App app(
      "Measures collectives in turns with other implementations and with the machine's limits.",
      "tpbench");
  app.footer(
      "Times are per operation, the slowest rank's. Peers are installed by tools/setup --peers\n"
      "and built by: bazel build //tools/tpbench/peers:openmpi //tools/tpbench/peers:mpich\n"
      "//tools/tpbench/peers:gloo");
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  Settings settings;
  Raw raw;
  add_points(app, raw);
  add_manner(app, settings, raw);
  const auto* join =
      app.add_subcommand("join",
                         "What a Join context costs, beside PyTorch's (tools/setup --torch)")
          ->fallthrough();
  const auto* check =
      app.add_subcommand("check", "Whether the figures that the project promises are reached")
          ->fallthrough();
  app.require_subcommand(0, 1);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // as CLI11 wants them
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    throw HelpWanted(app.help());
  } catch (const CLI::ParseError& error) {
    throw InvalidArgument(one_line(error.what()) + " (see tpbench --help)");
  }
  if (join->parsed()) settings.mode = Mode::join;
  if (check->parsed()) settings.mode = Mode::check;
  // The figures are about these.
  if (check->parsed() && app.count("--ranks") == 0) raw.ranks = "2,4,8";
  read(settings, raw);
  require_writable_files(settings);
  return settings;
}

}  // namespace tensorplay::tpbench
