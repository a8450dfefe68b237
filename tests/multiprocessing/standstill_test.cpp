#include "lib/multiprocessing/standstill.h"

#include "tests/shm/child_process.h"

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <string>

namespace tensorplay::multiprocessing {
namespace {

using std::chrono::milliseconds;
using testing::ChildProcess;

std::string pause_for_ever() {
  while (true) ::pause();
}

// The next report of the child, which is left for the one who is tested.
void await(pid_t child, int report) {
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child), &info, report | WNOWAIT);
}

void stop(const ChildProcess& child) {
  child.send(SIGSTOP);
  await(child.pid(), WSTOPPED);
}

void go_on(const ChildProcess& child) {
  child.send(SIGCONT);
  await(child.pid(), WCONTINUED);
}

// Looks every 100 ms of a time that passes here only.
struct Looks {
  Standstill standstill;
  Standstill::Clock::time_point now{std::chrono::hours(1)};

  // In ms; -1: they don't stand still.
  long after(milliseconds time, std::span<const pid_t> children) {
    now += time;
    const auto duration = standstill.look(children, now);
    return duration ? static_cast<long>(*duration / milliseconds(1)) : -1;
  }
  long next(std::span<const pid_t> children) { return after(Standstill::kInterval, children); }
};

BOOST_AUTO_TEST_SUITE(standstill)

BOOST_AUTO_TEST_CASE(who_runs_does_not_stand_still) {
  ChildProcess child(pause_for_ever);
  Looks looks;
  BOOST_TEST(looks.next(std::array{child.pid()}) == -1);
}

BOOST_AUTO_TEST_CASE(counts_from_the_first_look_that_finds_it_stopped) {
  ChildProcess child(pause_for_ever);
  const std::array children{child.pid()};
  Looks looks;
  BOOST_TEST(looks.next(children) == -1);
  stop(child);
  BOOST_TEST(looks.next(children) == 0);
  BOOST_TEST(looks.next(children) == 100);
  BOOST_TEST(looks.next(children) == 200);
  go_on(child);
  BOOST_TEST(looks.next(children) == -1);
}

BOOST_AUTO_TEST_CASE(a_break_between_two_looks_is_seen) {
  ChildProcess child(pause_for_ever);
  const std::array children{child.pid()};
  Looks looks;
  stop(child);
  looks.next(children);
  BOOST_TEST(looks.next(children) == 100);
  go_on(child);
  stop(child);
  BOOST_TEST(looks.next(children) == 0);
  BOOST_TEST(looks.next(children) == 100);
}

BOOST_AUTO_TEST_CASE(all_have_to_stand_still_and_an_end_starts_the_count_anew) {
  ChildProcess one(pause_for_ever), two(pause_for_ever);
  const std::array both{one.pid(), two.pid()};
  Looks looks;
  stop(one);
  BOOST_TEST(looks.next(both) == -1);
  stop(two);
  BOOST_TEST(looks.next(both) == 0);
  BOOST_TEST(looks.next(both) == 100);
  two.send(SIGKILL);
  two.reap();
  BOOST_TEST(looks.next(std::array{one.pid()}) == 0);
  BOOST_TEST(looks.next(std::array{one.pid()}) == 100);
}

BOOST_AUTO_TEST_CASE(time_in_which_nobody_looks_hardly_counts) {
  ChildProcess child(pause_for_ever);
  const std::array children{child.pid()};
  Looks looks;
  stop(child);
  looks.next(children);
  BOOST_TEST(looks.after(std::chrono::hours(1), children) == 200);
}

BOOST_AUTO_TEST_CASE(whom_a_debugger_holds_does_not_stand_still) {
  ChildProcess child([]() -> std::string {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    return "";
  });
  await(child.pid(), WSTOPPED);
  Looks looks;
  BOOST_TEST(looks.next(std::array{child.pid()}) == -1);
  BOOST_TEST(looks.next(std::array{child.pid()}) == -1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::multiprocessing
