#include "tools/tprun/settings.h"

#include "lib/distributed/job_name.h"
#include "tools/tprun/job.h"

#include <tensorplay/distributed/contributors.h>
#include <tensorplay/error.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <memory>

namespace tensorplay::tprun {
namespace {

using distributed::kRankCountMax;
using distributed::PeerFailurePolicy;

constexpr double kSecondsMax = 1e7;  // what the library takes

double seconds(const char* option, const std::string& text, double least) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || !(value >= least && value <= kSecondsMax)) {
    throw UsageError(std::string(option) + " " + text + ": seconds are needed, as in 30 or 0.5");
  }
  return value;
}

std::chrono::milliseconds duration(const char* option, const std::string& text) {
  return std::chrono::milliseconds(std::llround(seconds(option, text, 0) * 1000));
}

int rank_count(const std::string& text) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || value < 1 || value > kRankCountMax) {
    throw UsageError("-n " + text + ": a number of ranks is needed, 1 ... " +
                     std::to_string(kRankCountMax));
  }
  return value;
}

PeerFailurePolicy policy(const std::string& source, const std::string& text) {
  for (const auto value : {PeerFailurePolicy::raise, PeerFailurePolicy::continue_without}) {
    if (text == distributed::name(value)) return value;
  }
  throw UsageError(source + text + ": raise or continue_without is needed");
}

BindTo bind_to(const std::string& text) {
  if (text.empty()) return BindTo::automatic;
  if (text == "core") return BindTo::core;
  if (text == "l3") return BindTo::l3;
  if (text == "numa") return BindTo::numa;
  if (text == "none") return BindTo::none;
  throw UsageError("--bind-to " + text + ": core, l3, numa or none is needed");
}

// What CLI11 makes of a command line: text, to be checked.
struct Words {
  std::string ranks;
  std::string job;
  std::string timeout;
  std::string grace;
  std::string stopped_grace;
  std::string on_peer_failure;
  std::string bind_to;
  bool survive = false;
  bool no_prefix = false;
  std::vector<std::string> command;
};

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: tprun -n N [options] -- program [arguments]\n";
  }
};

void declare(CLI::App& app, Words& words) {
  app.formatter(std::make_shared<HelpFormatter>());
  app.footer(
      "The ranks get RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, TENSORPLAY_JOB and\n"
      "TENSORPLAY_LAUNCH, TENSORPLAY_ON_PEER_FAILURE. Rank 0 has tprun's standard input. The "
      "first\n"
      "rank to fail ends the others, and its exit code is tprun's:\n"
      "128 + signal if a signal ended it. 2: the command line is wrong or the program can't be "
      "started.\n"
      "With --survive the others go on, and a rank that a signal has ended is lost but no failure: "
      "0 if\n"
      "a rank has succeeded and none has failed by an exit code of its own.");
  app.add_option("-n,--nproc", words.ranks, "How many ranks to start")->type_name("N");
  app.add_option("--job", words.job, "The job's name; random if not given")->type_name("NAME");
  app.add_option("--timeout", words.timeout, "How long the library waits for a rank")
      ->type_name("SECONDS");
  app.add_option("--grace", words.grace,
                 "How long ranks may take to end before they are killed (5)")
      ->type_name("SECONDS");
  app.add_option(
         "--stopped-grace", words.stopped_grace,
         "With --survive: how long ranks may be stopped when all others have\nended, before "
         "they are killed (10)")
      ->type_name("SECONDS");
  app.add_option("--on-peer-failure", words.on_peer_failure,
                 "What becomes of the others when a rank dies: raise (they are\nended) or "
                 "continue_without (TENSORPLAY_ON_PEER_FAILURE, raise)")
      ->type_name("POLICY");
  app.add_flag("--survive", words.survive, "Short for --on-peer-failure continue_without");
  app.add_option(
         "--bind-to", words.bind_to,
         "What each rank stays on: core, l3, numa or none (l3; none if there\nare more ranks "
         "than cores)")
      ->type_name("PLACE");
  app.add_flag("--no-prefix", words.no_prefix, "Leave standard output and error to the ranks");
  app.prefix_command();
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

Words parse_words(int argc, const char* const* argv) {
  CLI::App app("Starts the ranks of a job on this host.", "tprun");
  Words words;
  declare(app, words);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    throw HelpWanted(app.help());
  } catch (const CLI::ParseError& error) {
    throw UsageError(first_line(error.what()));
  }
  words.command = app.remaining();
  return words;
}

PeerFailurePolicy policy_of(const Words& words) {
  const PeerFailurePolicy chosen = words.on_peer_failure.empty()
                                       ? PeerFailurePolicy::continue_without
                                       : policy("--on-peer-failure ", words.on_peer_failure);
  if (words.survive && chosen == PeerFailurePolicy::raise) {
    throw UsageError("--survive and --on-peer-failure raise contradict each other");
  }
  if (words.survive || !words.on_peer_failure.empty()) return chosen;
  const char* inherited = std::getenv("TENSORPLAY_ON_PEER_FAILURE");
  return inherited == nullptr ? PeerFailurePolicy::raise
                              : policy("TENSORPLAY_ON_PEER_FAILURE=", inherited);
}

// Whatever isn't an option of ours begins the command; an option of nobody's does so, too.
void take_command(std::vector<std::string>& command) {
  if (!command.empty() && command.front() == "--") {
    command.erase(command.begin());
  } else if (!command.empty() && command.front().starts_with('-')) {
    throw UsageError("unknown option " + command.front());
  }
  if (command.empty()) throw UsageError("the program is missing: tprun -n N -- program");
}

}  // namespace

Settings parse_settings(int argc, const char* const* argv) {
  Words words = parse_words(argc, argv);
  take_command(words.command);
  if (words.ranks.empty()) {
    throw UsageError("-n is missing, the number of ranks: tprun -n N -- program");
  }
  Settings settings;
  settings.ranks = rank_count(words.ranks);
  settings.job = words.job.empty() ? random_name() : words.job;
  try {
    distributed::check_job_name(settings.job);
  } catch (const InvalidArgument& error) {
    throw UsageError("--job " + settings.job + ": " + error.what());
  }
  if (!words.timeout.empty()) seconds("--timeout", words.timeout, 0.001);
  settings.timeout_s = words.timeout;
  settings.on_peer_failure = policy_of(words);
  settings.bind_to = bind_to(words.bind_to);
  settings.prefix = !words.no_prefix;
  if (!words.grace.empty()) settings.grace = duration("--grace", words.grace);
  if (!words.stopped_grace.empty()) {
    settings.stopped_grace = duration("--stopped-grace", words.stopped_grace);
  }
  settings.launch = random_name();
  settings.command = std::move(words.command);
  return settings;
}

}  // namespace tensorplay::tprun
