// What the others are told of a rank that is gone: who, how, where it was awaited, and what
// everybody else is doing.

#include "lib/distributed/whereabouts.h"
#include "lib/shm/layout.h"
#include "tests/distributed/plain.h"
#include "tests/distributed/told.h"
#include "tests/join/joinables.h"
#include "tests/worlds/worlds.h"

#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace tensorplay::distributed {
namespace {

using join_tests::Counter;
using join_tests::with_join;
using worlds::World;
using worlds::WorldResult;
using namespace std::chrono_literals;

WorldResult run(int world_size, const worlds::RankBody& body) {
  return run_world(World::forked_processes, world_size, body);
}

// The others sleep in their waits by then.
void settle() {
  std::this_thread::sleep_for(500ms);
}

BOOST_AUTO_TEST_SUITE(peer_reports)

BOOST_AUTO_TEST_CASE(a_dead_rank) {
  const auto result = run(3, [](ProcessGroup& group) -> std::string {
    add_up(group, 4, 2);
    if (group.rank() == 1) {
      settle();
      raise(SIGKILL);
    }
    return told(group, [&] { group.barrier(); });
  });
  expect_all_say(result,
                 "rank 1, killed: rank 1 (pid P) was ended by signal 9 (Killed), while the group "
                 "waited for it in "
                 "barrier, operation 3. Its last call: all_reduce (sum, float32, 4 elements), "
                 "operation 2. See that rank's own output. The others:\n"
                 "  rank 0 (pid P): waiting in barrier, operation 3, for T s\n"
                 "  rank 2 (pid P): waiting in barrier, operation 3, for T s",
                 1);
  expect_all_say_the_same(result, 1);
}

BOOST_AUTO_TEST_CASE(a_rank_that_gives_up_the_group_while_another_is_busy) {
  const auto result = run(3, [](ProcessGroup& group) -> std::string {
    add_up(group, 4, 2);
    if (group.rank() == 2) std::this_thread::sleep_for(2s);
    if (group.rank() == 1) {
      settle();
      return "went home";
    }
    return told(group, [&] { group.barrier(); });
  });
  expect_all_say(result,
                 "rank 1, exited: rank 1 (pid P) gave up the group, while the group waited for it "
                 "in barrier, operation 3. Its last call: all_reduce (sum, float32, 4 elements), "
                 "operation 2. All ranks must call the same collectives before they end. The "
                 "others:\n"
                 "  rank 0 (pid P): waiting in barrier, operation 3, for T s\n"
                 "  rank 2 (pid P): in user code for T s (state); last call: all_reduce (sum, "
                 "float32, 4 elements), operation 2",
                 1);
}

BOOST_AUTO_TEST_CASE(a_rank_that_is_gone_in_the_report_about_another) {
  const auto result = run(3, [](ProcessGroup& group) -> std::string {
    if (group.rank() == 1) return "went home";
    if (group.rank() == 2) {
      settle();
      raise(SIGKILL);
    }
    settle();
    settle();
    return told(group, [&] { group.barrier(); });
  });
  const std::string text = plain(result.ranks[0].findings);
  BOOST_TEST(text.starts_with("rank 1, exited: rank 1 (pid P) gave up the group"), text);
  BOOST_TEST(
      (text.find("  rank 2 (pid P): was ended by signal 9 (Killed); no call in this group yet") !=
       std::string::npos),
      text);
}

BOOST_AUTO_TEST_CASE(an_exception_in_a_join_context) {
  const auto result = run(3, [](ProcessGroup& group) -> std::string {
    Counter counter(group);
    return told(group, [&] {
      with_join({counter}, {}, [&] {
        for (int i = 0; i < group.rank(); ++i) counter.count();
        if (group.rank() != 2) return;
        settle();
        throw std::runtime_error("the disk is full");
      });
    });
  });
  expect_all_say(
      result,
      "rank 2, raised: rank 2 (pid P) left its Join context by an exception in "
      "iteration 2, before operation 3: the disk is full. The others:\n"
      "  rank 0 (pid P): joined after 0 iterations, waiting for the others, for T s; no "
      "call in this group yet\n"
      "  rank 1 (pid P): joined after 1 iteration, waiting for the others, for T s; last "
      "call: all_reduce (sum, int64, 1 element), operation 1",
      2);
}

// As numbers, for programs.
std::string numbers_of(const PeerFailure& failure) {
  const auto text = [](std::optional<int> value) {
    return value ? std::to_string(*value) : std::string("none");
  };
  return std::to_string(failure.pid()) + " " + text(failure.exit_code()) + " " +
         text(failure.signal());
}

BOOST_AUTO_TEST_CASE(the_process_and_its_end_are_told_as_numbers) {
  for (const bool killed : {true, false}) {
    const auto result = run(2, [=](ProcessGroup& group) -> std::string {
      std::int32_t pid = getpid();
      group.broadcast(std::span(&pid, 1), 1);
      if (group.rank() == 1) killed ? static_cast<void>(raise(SIGKILL)) : _exit(3);
      try {
        group.barrier();
      } catch (const PeerFailure& failure) {
        return std::to_string(pid) + "; " + numbers_of(failure);
      }
      return "nothing was thrown";
    });
    const std::string& found = result.ranks[0].findings;
    const std::string pid = found.substr(0, found.find(';'));
    BOOST_TEST(found == pid + "; " + pid + (killed ? " none 9" : " 3 none"));
  }
}

BOOST_AUTO_TEST_CASE(a_text_of_many_lines_keeps_its_end) {
  const std::vector<std::string> lines(500, std::string(60, 'x'));
  const std::string text = with_lines("The head:", lines, "The end");
  BOOST_TEST(text.size() < sizeof(shm::FailureRecord::text));
  BOOST_TEST(text.size() > sizeof(shm::FailureRecord::text) - 120);
  BOOST_TEST(text.starts_with("The head:\n  xxx"));
  BOOST_TEST(text.ends_with(" more lines\nThe end"), text.substr(text.size() - 40));
  BOOST_TEST(with_lines("Head", {"a", "b"}, "") == "Head\n  a\n  b");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::distributed
