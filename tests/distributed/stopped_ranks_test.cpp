// A rank that was stopped and goes on in time does no harm, whatever the others wait in.

#include "tests/distributed/expect_told.h"
#include "tests/distributed/told.h"
#include "tests/distributed/waits.h"

#include <tensorplay/distributed/algorithms/join.h>

#include <unistd.h>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <span>
#include <string>
#include <thread>

namespace tensorplay::distributed {
namespace {

using algorithms::with_join;
using namespace std::chrono_literals;

constexpr int kStopped = 1;

// Stops the calling rank for 250 ms: more than a sleeper's slice, and than anybody is told within.
void be_stopped() {
  const pid_t rank = getpid();
  if (fork() == 0) {
    std::this_thread::sleep_for(250ms);
    kill(rank, SIGCONT);
    _exit(0);
  }
  raise(SIGSTOP);
}

BOOST_AUTO_TEST_SUITE(stopped_ranks)

BOOST_DATA_TEST_CASE(a_stop_that_ends_in_time_is_no_failure,
                     boost::unit_test::data::make(all_waits()), wait) {
  const auto result = run(3, [&](ProcessGroup& group) -> std::string {
    group.barrier();
    Counter counter(group);
    const auto body = [&] {
      if (group.rank() == kStopped) be_stopped();
      wait.act(group, counter);
    };
    if (wait.of_context) {
      with_join({counter}, {.throw_on_early_termination = wait.throws_early}, body);
    } else {
      body();
    }
    add_up(group, 100, 10);
    return "";
  });
  BOOST_TEST(result.findings() == "");
}

// In the midst of its own waiting and copying, again and again.
BOOST_AUTO_TEST_CASE(stops_at_any_moment_are_no_failure) {
  const auto result = run(3, [](ProcessGroup& group) -> std::string {
    std::int32_t pid = getpid();
    group.broadcast(std::span(&pid, 1), kStopped);
    if (group.rank() == 0 && fork() == 0) {
      for (int i = 0; i < 40; ++i) {
        kill(pid, SIGSTOP);
        std::this_thread::sleep_for(std::chrono::milliseconds(5 + i % 3 * 30));
        kill(pid, SIGCONT);
        std::this_thread::sleep_for(std::chrono::microseconds(500 * (i % 7)));
      }
      _exit(0);
    }
    for (int i = 0; i < 60; ++i) {
      add_up(group, 3, 5);
      add_up(group, 200'000, 1);
      group.split(0, 0).barrier();
    }
    return "";
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::distributed
