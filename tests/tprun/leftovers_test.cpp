// However a job ends: nothing of it stays in /dev/shm, and nothing of others goes.

#include "tests/tprun/command.h"

#include <unistd.h>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace tensorplay::tests {
namespace {

const std::string kRank = "tests/tprun/meeting_rank";

std::string path_of(const std::string& job) {
  return "/dev/shm/tensorplay-" + std::to_string(::geteuid()) + "-" + job;
}

// A name that no other job has.
std::string new_job() {
  std::random_device random;
  return "tprun-test-" + std::to_string(random()) + "-" + std::to_string(random());
}

bool is_there(const std::string& job) {
  return std::filesystem::exists(std::filesystem::symlink_status(path_of(job)));
}

std::vector<std::string> job_of(const std::string& job, int ranks, const std::string& script) {
  return {"--job", job, "--timeout", "30", "-n", std::to_string(ranks), "--", "sh", "-c", script};
}

// All ranks but the last meet, and wait for it.
std::vector<std::string> job_without_its_last_rank(const std::string& job,
                                                   const std::string& last_rank) {
  return job_of(job, 3, "[ $RANK = 2 ] && { " + last_rank + "; }; exec " + kRank);
}

bool comes(const std::string& job) {
  for (int i = 0; i < 20'000; ++i) {
    if (is_there(job)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

BOOST_AUTO_TEST_SUITE(leftovers)

BOOST_AUTO_TEST_CASE(a_job_that_ends_well_leaves_nothing) {
  const std::string job = new_job();
  const CommandResult result = run_tprun(job_of(job, 3, "exec " + kRank));
  BOOST_TEST(result.exit_code == 0, result.error);
  BOOST_TEST(!is_there(job));
}

BOOST_AUTO_TEST_CASE(a_rank_that_fails_before_all_have_come_leaves_nothing) {
  const std::string job = new_job();
  const std::string wait = "while [ ! -e " + path_of(job) + " ]; do sleep 0.01; done";
  const CommandResult result =
      run_tprun(job_without_its_last_rank(job, wait + "; sleep 0.1; exit 3"));
  BOOST_TEST(result.exit_code == 3, result.error);
  BOOST_TEST(!is_there(job));
}

BOOST_DATA_TEST_CASE(a_signal_to_tprun_before_all_have_come_leaves_nothing,
                     (std::vector<int>{SIGINT, SIGTERM, SIGHUP}), signal) {
  const std::string job = new_job();
  Command command(tprun(job_without_its_last_rank(job, "exec sleep 100")));
  BOOST_TEST(comes(job));
  command.signal(signal);
  command.finish();
  BOOST_TEST(!is_there(job));
}

// Ranks die with tprun, at whatever moment; what they leave goes with the next start of any job.
BOOST_AUTO_TEST_CASE(what_is_left_when_tprun_is_killed_goes_at_the_next_start) {
  std::mt19937 random(std::random_device{}());
  std::vector<std::string> jobs;
  for (int i = 0; i < 30; ++i) {
    jobs.push_back(new_job());
    const std::string last = i % 2 == 0 ? "exec sleep 100" : "exec " + kRank;
    Command command(tprun(job_without_its_last_rank(jobs.back(), last)));
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 30'000));
    command.signal(SIGKILL);
    command.finish();  // of all who have its output: the ranks, too
  }
  const CommandResult next = run_tprun(job_of(new_job(), 1, "exec " + kRank));
  BOOST_TEST(next.exit_code == 0, next.error);
  for (const std::string& job : jobs) BOOST_TEST(!is_there(job), job);
}

// Nobody marks the mutexes in a copy: it looks as if its ranks lived.
BOOST_AUTO_TEST_CASE(a_copy_of_a_segment_goes_at_the_next_start_and_the_job_lives_on) {
  const std::string job = new_job();
  const std::string copy = new_job(), own_copy = new_job();
  Command running(tprun(job_without_its_last_rank(job, "sleep 2; exec " + kRank)));
  BOOST_TEST(comes(job));
  for (const std::string& name : {copy, own_copy}) {
    BOOST_TEST(
        Command({"cp", "-p", "--sparse=always", path_of(job), path_of(name)}).finish().exit_code ==
        0);
  }
  // One job finds its own name taken by a copy, and removes the other one as well.
  const CommandResult next = run_tprun(job_of(own_copy, 1, "exec " + kRank));
  BOOST_TEST(next.exit_code == 0, next.error);
  BOOST_TEST(!is_there(copy));
  BOOST_TEST(!is_there(own_copy));
  BOOST_TEST(is_there(job));
  const CommandResult result = running.finish();
  BOOST_TEST(result.exit_code == 0, result.error);
  BOOST_TEST(!is_there(job));
}

// Neither a file that nobody of ours has made, nor the segment of another job of the same name.
BOOST_AUTO_TEST_CASE(what_belongs_to_others_stays) {
  const std::string job = new_job();
  Command running(tprun(job_without_its_last_rank(job, "sleep 2; exec " + kRank)));
  BOOST_TEST(comes(job));
  const std::string letters = new_job();
  std::ofstream(path_of(letters)) << "somebody's letters";

  const CommandResult newcomer = run_tprun(job_of(job, 1, "exec " + kRank));
  BOOST_TEST(newcomer.exit_code == 3);
  BOOST_TEST(has(newcomer.error, "another start of a job of this name"), newcomer.error);
  BOOST_TEST(is_there(job));
  BOOST_TEST(run_tprun(job_of(letters, 1, "exec " + kRank)).exit_code == 3);
  BOOST_TEST(std::filesystem::remove(path_of(letters)));

  const CommandResult result = running.finish();
  BOOST_TEST(result.exit_code == 0, result.error);
  BOOST_TEST(!is_there(job));
}

// At least one of them runs, and nobody meets a rank of the other. (The second one may come late
// enough to run, too: the name is free again when all ranks of the first have met.)
BOOST_AUTO_TEST_CASE(two_jobs_of_one_name_that_start_at_once_are_never_mixed) {
  int refused = 0;
  for (int i = 0; i < 15; ++i) {
    const std::string job = new_job();
    Command one(tprun(job_of(job, 2, "exec " + kRank)));
    Command other(tprun(job_of(job, 2, "exec " + kRank)));
    const CommandResult results[] = {one.finish(), other.finish()};
    for (const CommandResult& result : results) {
      if (result.exit_code == 0) continue;
      ++refused;
      BOOST_TEST(has(result.error, "another start of a job of this name is waiting"), result.error);
      BOOST_TEST(has(result.error, "choose another job name (tprun --job)"), result.error);
    }
    BOOST_TEST((results[0].exit_code == 0 || results[1].exit_code == 0));
    BOOST_TEST(!is_there(job));
  }
  BOOST_TEST_MESSAGE(refused << " of 30 jobs were refused");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::tests
