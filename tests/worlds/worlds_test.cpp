// The harness itself: what a rank finds, throws or dies of reaches the parent.

#include "tests/worlds/captured_stderr.h"
#include "tests/worlds/world_test.h"

#include <tensorplay/error.h>

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <thread>

namespace tensorplay::worlds {
namespace {

using distributed::ProcessGroup;

BOOST_AUTO_TEST_SUITE(worlds)

TP_WORLD_TEST(every_rank_gets_a_group_of_its_own) {
  const WorldResult result = run_world(world, 3, [](ProcessGroup& group) {
    return std::to_string(group.rank()) + " of " + std::to_string(group.size());
  });
  BOOST_REQUIRE(result.ranks.size() == 3u);
  BOOST_TEST(result.ranks[0].findings == "0 of 3");
  BOOST_TEST(result.ranks[1].findings == "1 of 3");
  BOOST_TEST(result.ranks[2].findings == "2 of 3");
}

TP_WORLD_TEST(a_world_without_findings_is_fine) {
  const WorldResult result = run_world(world, 2, [](ProcessGroup&) { return std::string(); });
  BOOST_TEST(result.findings() == "");
  BOOST_TEST(result.ranks[0].fine());
}

TP_WORLD_TEST(exceptions_come_back_with_their_class_and_text) {
  const WorldResult result = run_world(world, 2, [](ProcessGroup& group) -> std::string {
    if (group.rank() == 0) throw InvalidArgument("a reason");
    throw std::range_error("another one");
  });
  BOOST_TEST(result.ranks[0].reported);
  BOOST_TEST(result.ranks[0].findings == "InvalidArgument: a reason");
  BOOST_TEST(result.ranks[1].findings == "range_error: another one");
}

TP_WORLD_TEST(long_findings_are_not_cut) {
  const WorldResult result =
      run_world(world, 2, [](ProcessGroup&) { return std::string(300'000, 'x'); });
  BOOST_TEST(result.ranks[1].findings.size() == 300'000u);
}

BOOST_AUTO_TEST_CASE(findings_are_collected_and_after_ten_counted) {
  Findings found;
  BOOST_TEST(found.text() == "");
  for (int i = 0; i < 12; ++i) found.equal(i, -1, "i");
  BOOST_TEST(found.text().starts_with("i is 0, not -1; i is 1, not -1"));
  BOOST_TEST(found.text().ends_with("; and 2 more"));
}

BOOST_AUTO_TEST_CASE(an_expected_exception_gives_its_text_and_another_one_a_finding) {
  Findings found;
  BOOST_TEST(found.throws<Timeout>([] { throw Timeout("late"); }, "waiting") == "late");
  BOOST_TEST(found.empty());
  found.throws<Timeout>([] { throw InvalidArgument("bad"); }, "waiting");
  found.throws<Timeout>([] {}, "waiting");
  BOOST_TEST(found.text() == "waiting threw InvalidArgument: bad; waiting didn't throw");
}

BOOST_AUTO_TEST_CASE(stderr_is_captured_until_asked_for) {
  CapturedStderr captured;
  std::fputs("one\n", stderr);
  BOOST_TEST(captured.text() == "one\n");
}

#ifndef TENSORPLAY_THREAD_WORLDS

BOOST_AUTO_TEST_CASE(a_killed_rank_is_told_by_its_signal) {
  const WorldResult result =
      run_world(World::forked_processes, 2, [](ProcessGroup& group) -> std::string {
        if (group.rank() == 1) std::raise(SIGKILL);
        return "";
      });
  BOOST_TEST(result.ranks[0].fine());
  BOOST_TEST(!result.ranks[1].reported);
  BOOST_TEST(result.ranks[1].signal == SIGKILL);
}

BOOST_AUTO_TEST_CASE(a_rank_that_exits_silently_is_told_by_its_exit_code) {
  const WorldResult result =
      run_world(World::forked_processes, 2, [](ProcessGroup& group) -> std::string {
        if (group.rank() == 0) _exit(7);
        return "";
      });
  BOOST_TEST(result.ranks[0].exit_code == 7);
  BOOST_TEST(result.findings() == "rank 0: left no report, exit code 7\n");
}

BOOST_AUTO_TEST_CASE(the_watchdog_names_who_hangs_and_ends_it) {
  const WorldOptions soon{.timeout = std::chrono::milliseconds(100),
                          .grace = std::chrono::milliseconds(200)};
  const WorldResult result = run_world(
      World::forked_processes, 2,
      [](ProcessGroup& group) -> std::string {
        if (group.rank() == 0) std::this_thread::sleep_for(std::chrono::hours(1));
        return "";
      },
      soon);
  BOOST_TEST(result.ranks[0].hung);
  BOOST_TEST(result.ranks[0].findings.starts_with("hangs; State:"));
  BOOST_TEST(result.ranks[1].fine());
}

#endif

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::worlds
