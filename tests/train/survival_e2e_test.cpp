// Training goes on without ranks that are killed, whichever they are and whatever they are at.

#include "lib/multiprocessing/file_descriptor.h"
#include "tests/tprun/command.h"
#include "tests/train/shell_command.h"
#include "tests/train/temporary_folder.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace tensorplay::train {
namespace {

using Clock = std::chrono::steady_clock;
using tests::Command;

const std::string kDigits = " --data tools/train/data/digits.csv ";
constexpr int kRanks = 4;
// What the program reaches on the digits without deaths is 0.97.
constexpr double kAccuracyLeast = 0.96;

std::string started(const std::string& options) {
  return "tools/tprun/tprun -n " + std::to_string(kRanks) +
         " --survive --timeout 60 -- tools/train/train" + kDigits + options;
}

nlohmann::json report_of(const std::string& options) {
  const TemporaryFolder folder;
  const auto path = folder / "run.json";
  const Outcome outcome = run_shell(started(options + " --out " + path.string()));
  BOOST_REQUIRE_MESSAGE(outcome.exit_code == 0, options << ": " << outcome.error);
  std::ifstream stream(path);
  return nlohmann::json::parse(stream);
}

std::set<std::string> checksums(const nlohmann::json& report) {
  std::set<std::string> found;
  for (const auto& rank : report["ranks"]) {
    if (!rank["checksum"].is_null()) found.insert(rank["checksum"].get<std::string>());
  }
  return found;
}

void expect_survival(const nlohmann::json& report, std::size_t lost) {
  BOOST_TEST(report["losses"].size() == lost);
  BOOST_TEST(report["verdict"]["survivors"].size() == kRanks - lost);
  BOOST_TEST(checksums(report).size() == 1u);
  BOOST_TEST(report["verdict"]["test_accuracy"].get<double>() >= kAccuracyLeast);
}

BOOST_AUTO_TEST_SUITE(train_survives)

BOOST_AUTO_TEST_CASE(one_or_two_of_four_ranks_that_are_killed_at_random_moments) {
  std::set<int> killed;
  for (int seed = 1; seed <= 24; ++seed) {
    const std::size_t lost = 1 + seed % 2;
    const std::string options = "--kill " + std::to_string(lost) + " --kill-seed " +
                                std::to_string(seed) +
                                (seed % 3 == 0 ? " --shards 40,30,20,10" : "");
    BOOST_TEST_CONTEXT(options) {
      const nlohmann::json report = report_of(options);
      expect_survival(report, lost);
      for (const auto& loss : report["losses"]) {
        killed.insert(loss["rank"].get<int>());
        BOOST_TEST_MESSAGE("seed " << seed << ": " << loss.dump());
      }
    }
  }
  BOOST_TEST(killed.size() == static_cast<std::size_t>(kRanks));  // rank 0 as well
}

BOOST_AUTO_TEST_CASE(all_ranks_but_one_killed) {
  expect_survival(report_of("--kill 3 --kill-seed 1"), 3);
}

BOOST_AUTO_TEST_CASE(rows_that_the_dead_would_have_had_are_trained_on_by_the_others) {
  // Short epochs: what is left of the dead ranks' last ones is a few per cent.
  const nlohmann::json report = report_of("--kill 2 --kill-seed 3");
  const auto planned = report["data"]["training_rows"].get<double>() * 20;
  BOOST_TEST(report["data"]["trained_rows"].get<double>() >= 0.9 * planned);
  BOOST_TEST(report["data"]["trained_rows"].get<double>() <= planned);
}

// The number of the epoch in which rank 0 was lost, by the report of rank 1; 0 if it wasn't.
int epoch_of_loss_of_rank_0(const std::string& output) {
  const std::string mark = "[1] rank 0 was lost in epoch ";
  const std::size_t at = output.find(mark);
  return at == std::string::npos ? 0 : std::stoi(output.substr(at + mark.size()));
}

BOOST_AUTO_TEST_CASE(the_lowest_rank_that_lives_speaks_and_says_who_was_lost) {
  const TemporaryFolder folder;
  const auto path = folder / "model";
  // Seeds are tried until rank 0 is lost before the last epoch.
  for (int seed = 1; seed < 100; ++seed) {
    const Outcome outcome = run_shell(started("--epochs 8 --kill 1 --kill-seed " +
                                              std::to_string(seed) + " --model " + path.string()));
    BOOST_REQUIRE_MESSAGE(outcome.exit_code == 0, outcome.error);
    const int epoch = epoch_of_loss_of_rank_0(outcome.output);
    if (epoch == 0 || epoch == 8) continue;
    BOOST_TEST(outcome.error.find("[1] epoch 8/8: ") != std::string::npos, outcome.error);
    BOOST_TEST(outcome.output.find("[1] trained on ") != std::string::npos, outcome.output);
    BOOST_TEST(outcome.output.ends_with(", 3 equal checksums\n"), outcome.output);
    BOOST_TEST(std::filesystem::file_size(path) > 0u);
    return;
  }
  BOOST_ERROR("no seed killed rank 0");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(train_survives_kills_from_outside)

pid_t pid_of(int rank, const std::string& output) {
  const std::string mark = "[" + std::to_string(rank) + "] pid=";
  return std::stoi(output.substr(output.find(mark) + mark.size()));
}

// A run whose ranks tell their pids first.
struct Run {
  explicit Run(const std::string& job, const std::string& options = "")
      : command({"tools/tprun/tprun", "-n", std::to_string(kRanks), "--survive", "--timeout", "60",
                 "--job", job, "--", "sh", "-c",
                 "echo pid=$$; exec tools/train/train" + kDigits + options}) {
    for (int rank = 0; rank < kRanks; ++rank) {
      command.wait_for_output("[" + std::to_string(rank) + "] pid=");
      command.wait_for_output("\n");
    }
    for (int rank = 0; rank < kRanks; ++rank) pids.push_back(pid_of(rank, command.output()));
  }

  Command command;
  std::vector<pid_t> pids;
};

std::string segment_of(const std::string& job) {
  return "/dev/shm/tensorplay-" + std::to_string(::geteuid()) + "-" + job;
}

// What comes out of a pipe until its writer closes it; nothing if nobody writes for a minute.
std::string read_pipe(const std::filesystem::path& path) {
  const multiprocessing::FileDescriptor pipe(::open(path.c_str(), O_RDONLY | O_NONBLOCK));
  std::string text;
  for (pollfd entry{pipe.get(), POLLIN, 0}; ::poll(&entry, 1, 60'000) == 1;) {
    char buffer[65536];
    const ssize_t bytes = ::read(pipe.get(), buffer, sizeof(buffer));
    if (bytes <= 0) break;
    text.append(buffer, static_cast<std::size_t>(bytes));
  }
  return text;
}

// The leader is held while it tells: nobody reads the pipe that it writes the model to.
BOOST_AUTO_TEST_CASE(the_rank_that_tells_while_it_tells) {
  const TemporaryFolder folder;
  const auto path = folder / "pipe";
  BOOST_REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  Run run("survival_test.pipe." + std::to_string(::getpid()),
          "--epochs 2 --model " + path.string());
  run.command.wait_for_output(", 4 equal checksums\n");
  ::kill(run.pids[0], SIGKILL);
  // A reader that came before the end would let the dying rank open the pipe, and see its end.
  BOOST_TEST(tests::ends_soon(run.pids[0]));
  BOOST_TEST(read_pipe(path).starts_with("# hidden.weight "));
  const tests::CommandResult result = run.command.finish();
  BOOST_TEST(result.exit_code == 0, result.error);
  BOOST_TEST(result.output.find("[1] test accuracy ") != std::string::npos, result.output);
}

// At any moment: while the ranks start and meet, train, measure, tell, or end. If they haven't all
// met there is no group yet that could go on.
BOOST_AUTO_TEST_CASE(one_or_two_of_four_ranks_at_any_moment_of_their_lives) {
  const std::string job = "survival_test." + std::to_string(::getpid());
  const Clock::time_point begin = Clock::now();
  BOOST_TEST(Run(job).command.finish().exit_code == 0);
  const std::chrono::duration<double> usual = Clock::now() - begin;

  for (unsigned seed = 1; seed <= 30; ++seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> moment(0, usual.count());
    Run run(job);
    std::vector<double> moments{moment(random)};
    if (seed % 2 == 0) moments.push_back(moment(random));
    std::sort(moments.begin(), moments.end());
    std::shuffle(run.pids.begin(), run.pids.end(), random);
    const Clock::time_point start = Clock::now();
    for (std::size_t i = 0; i < moments.size(); ++i) {
      std::this_thread::sleep_until(start + std::chrono::duration_cast<Clock::duration>(
                                                std::chrono::duration<double>(moments[i])));
      ::kill(run.pids[i], SIGKILL);  // in vain if it has ended: then it's a zombie of tprun's
    }
    const tests::CommandResult result = run.command.finish();
    BOOST_TEST_CONTEXT("seed " << seed << ", exit code " << result.exit_code << "\n"
                               << result.output << result.error) {
      const bool told = result.output.find(" checksum") != std::string::npos;
      const auto tells = [&result](const char* words) {
        return result.error.find(words) != std::string::npos;
      };
      const bool met = !tells(" has not come to init_process_group") &&
                       !tells("before all ranks of the job had started");
      BOOST_TEST((met ? result.exit_code == 0 && told : result.exit_code != 0));
      BOOST_TEST(result.output.find("DIFFER") == std::string::npos);
      BOOST_TEST(!std::filesystem::exists(segment_of(job)));
      for (const pid_t pid : run.pids)
        BOOST_TEST(!std::filesystem::exists("/proc/" + std::to_string(pid)));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(train_kill_refuses)

void expect_refusal(const std::string& command, const std::string& message) {
  const Outcome outcome = run_shell(command);
  BOOST_TEST(outcome.exit_code == 2, outcome.error);
  BOOST_TEST(outcome.error.find("train: " + message) != std::string::npos, outcome.error);
}

BOOST_AUTO_TEST_CASE(what_nobody_would_survive) {
  const std::string train = "tools/train/train" + kDigits;
  expect_refusal(started("--kill 4"), "--kill 4 of 4 ranks: one has to survive");
  expect_refusal("tools/tprun/tprun -n 2 -- " + train + "--kill 1",
                 "--kill 1: the others would end, too");
  expect_refusal("tools/tprun/tprun -n 2 -- " + train + "--survive",
                 "--survive: the launcher will end all ranks when one dies");
}

BOOST_AUTO_TEST_CASE(other_launchers_leave_the_choice_to_the_program) {
  const Outcome outcome =
      run_shell("RANK=0 WORLD_SIZE=1 tools/train/train" + kDigits + "--epochs 1 --survive");
  BOOST_TEST(outcome.exit_code == 0, outcome.error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::train
