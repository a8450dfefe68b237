// Ranks that die or stop at every step of a start: the others are told or go on, within their
// deadline, and the next start leaves nothing.

#include "lib/base/fault_point.h"
#include "tests/distributed/test_job.h"
#include "tests/shm/child_process.h"

#include <tensorplay/distributed/process_group.h>
#include <tensorplay/error.h>

#include <sys/wait.h>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tensorplay::distributed {
namespace {

using testing::ChildProcess;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTimeout{600};
constexpr int kRanks = 3;

// Steps of the rank that makes the segment.
const std::vector<std::string> kMakersSteps{
    "segment.file_made",     "segment.locked",      "segment.resized",
    "segment.reserved",      "rendezvous.made",     "rendezvous.leftovers_removed",
    "attach.reserved",       "attach.claimed",      "rendezvous.before_publish",
    "rendezvous.published",  "rendezvous.attached", "rendezvous.all_attached",
    "segment.before_unlink", "segment.unlinked",
};
// Steps of a rank that finds it.
const std::vector<std::string> kFindersSteps{
    "rendezvous.found",    "attach.reserved",         "attach.claimed",
    "rendezvous.attached", "rendezvous.all_attached", "segment.before_unlink",
};

// In the child that is to fail: where, and by which signal.
std::string fatal_step;
int fatal_signal = 0;

void fail_at_step(const char* name) {
  if (fatal_step != name) return;
  fatal_step.clear();
  raise(fatal_signal);
}

// Meets and adds up; what is thrown.
std::string fate(const ProcessGroupOptions& options) {
  try {
    ProcessGroup group = init_process_group(options);
    std::int64_t one = 1;
    group.all_reduce(std::span(&one, 1));
    return one == kRanks ? "met" : "the sum is wrong";
  } catch (const PeerFailure& error) {
    return "PeerFailure of rank " + std::to_string(error.rank());
  } catch (const Timeout& error) {
    return std::string("Timeout: ") + error.what();
  }
}

using Rank = std::unique_ptr<ChildProcess>;

Rank start(const TestJob& job, int rank) {
  return std::make_unique<ChildProcess>([&] { return fate(job.rank(rank, kRanks, kTimeout)); });
}

Rank start_victim(const TestJob& job, int rank, const std::string& step, int signal) {
  return std::make_unique<ChildProcess>([&] {
    fatal_step = step;
    fatal_signal = signal;
    // Relaxed: this process has one thread.
    fault_handler.store(fail_at_step, std::memory_order_relaxed);
    return fate(job.rank(rank, kRanks, kTimeout));
  });
}

// The victim has come to its step. (The others may all be through before.)
bool comes_to_its_step(const ChildProcess& victim) {
  siginfo_t information{};
  return waitid(P_PID, static_cast<id_t>(victim.pid()), &information,
                WEXITED | WSTOPPED | WNOWAIT) == 0 &&
         information.si_code != CLD_EXITED;
}

void expect_told(const std::string& fate, int victim, const std::string& step) {
  const bool told = fate == "PeerFailure of rank " + std::to_string(victim) ||
                    fate.starts_with("Timeout: ") || fate == "met";
  BOOST_TEST(told, "at " << step << ": " << fate);
}

void expect_nothing_left(const TestJob& job, const std::string& step) {
  const TestJob next;
  ChildProcess other([&] { return fate(next.rank(0, 1, kTimeout)); });
  other.report();
  BOOST_TEST(!job.is_there(), "something is left at " << step);
}

void fail_at(const std::string& step, bool makes, int signal) {
  const TestJob job;
  const int victim = makes ? 0 : kRanks - 1;
  std::vector<Rank> others;
  Rank failing;
  if (makes) {
    failing = start_victim(job, victim, step, signal);
    // Steps before the last ranks have come are reached now, the later ones with them.
    if (step.find("all_attached") == std::string::npos &&
        step.find("unlink") == std::string::npos) {
      BOOST_TEST(comes_to_its_step(*failing), step << " wasn't passed");
    } else {
      job.await_ranks(1);
    }
  }
  for (int rank = 0; rank < kRanks; ++rank) {
    if (rank != victim) others.push_back(start(job, rank));
  }
  if (!makes) {
    job.await_ranks(kRanks - 1);
    failing = start_victim(job, victim, step, signal);
  }
  BOOST_TEST(comes_to_its_step(*failing), step << " wasn't passed");
  const Clock::time_point begin = Clock::now();
  for (const Rank& other : others) expect_told(other->report(), victim, step);
  BOOST_TEST((Clock::now() - begin < kTimeout + std::chrono::seconds(10)), "late at " << step);
  failing->send(SIGCONT);
  const std::string end = failing->report();
  if (signal == SIGKILL) BOOST_TEST(end == "ended by signal 9");
  expect_nothing_left(job, step);
}

BOOST_AUTO_TEST_SUITE(start_moments)

BOOST_DATA_TEST_CASE(the_maker_fails_at_each_step, (std::vector<int>{SIGKILL, SIGSTOP}), signal) {
  for (const std::string& step : kMakersSteps) fail_at(step, true, signal);
}

BOOST_DATA_TEST_CASE(a_finder_fails_at_each_step, (std::vector<int>{SIGKILL, SIGSTOP}), signal) {
  for (const std::string& step : kFindersSteps) fail_at(step, false, signal);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::distributed
