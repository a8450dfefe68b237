// A rank that is stopped, or dies, while it tells why the group has failed, or while it writes into
// the others' memory: the others are told without it, and aren't disturbed when it goes on.

#include "tests/distributed/expect_told.h"
#include "tests/distributed/stopped_rank.h"
#include "tests/distributed/told.h"

#include "lib/distributed/group_engine.h"
#include "lib/sync/failure.h"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <span>
#include <string>

namespace tensorplay::distributed {
namespace {

using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(stopped_telling)

// It is continued by the last of the others that have been told.
BOOST_AUTO_TEST_CASE(a_stop_while_it_tells_why_holds_nobody_up_and_it_tells_the_others_story) {
  StoppedRank stopped;
  const auto result = run(4, [&](ProcessGroup& group) -> std::string {
    group.barrier();
    if (group.rank() == 2) raise(SIGKILL);
    if (group.rank() == 1) {
      stopped.stop_here_at("failure.filled");
      return told(group, [&] { group.barrier(); });
    }
    if (!stopped.await_stop()) return "rank 1 had nothing to tell";
    const std::string text = told(group, [&] { group.barrier(); });
    stopped.leave(2);
    return text;
  });
  expect_told(result, 2, {"rank 2, killed: rank 2 (pid ", "signal 9", "barrier, operation 2"});
}

BOOST_AUTO_TEST_CASE(a_death_while_it_tells_why_is_no_loss_to_the_others) {
  StoppedRank dead;
  const auto result = run(4, [&](ProcessGroup& group) -> std::string {
    group.barrier();
    if (group.rank() == 2) raise(SIGKILL);
    if (group.rank() == 1) dead.die_here_at("failure.filled");
    if (group.rank() != 1 && !dead.await_stop()) return "rank 1 had nothing to tell";
    return told(group, [&] { group.barrier(); });
  });
  const std::string& text = result.ranks[0].findings;
  BOOST_TEST(text.find(", killed: rank ") != std::string::npos, text);
  BOOST_TEST(result.ranks[3].findings == text);
  BOOST_TEST(result.ranks[1].signal == SIGKILL);
}

BOOST_AUTO_TEST_CASE(a_failure_that_no_member_has_told_is_damage) {
  const auto result = run(2, [&](ProcessGroup& group) -> std::string {
    group.barrier();
    sync::publish_failure(group.engine().memory().header(), 77);
    return told(group, [&] { group.barrier(); });
  });
  for (const auto& rank : result.ranks) {
    BOOST_TEST(rank.findings ==
               "SegmentError: the group has failed, but who says why is none of its members: the "
               "segment is damaged");
  }
}

// Those who were told write into their memory at once, and find it so when the stopped rank has
// been told, too. Its slice has four pieces.
BOOST_DATA_TEST_CASE(memory_is_the_caller_s_again_once_it_is_told,
                     boost::unit_test::data::make({"direct.piece_reduced", "direct.piece_moved"}),
                     point) {
  StoppedRank stopped;
  const auto body = [&](ProcessGroup& group) -> std::string {
    const std::span<float> values = group.allocate<float>(3 * 4 * shm::kChunkBytes / sizeof(float));
    if (group.rank() == 1) stopped.stop_here_at(point);
    const std::string text = told(group, [&] { group.all_reduce(values); });
    if (group.rank() == 1) {
      stopped.go_on();
      return text;
    }
    std::ranges::fill(values, 7.0f);
    if (!stopped.await_stop()) return "rank 1 didn't come to that point";
    stopped.leave(2);
    if (!stopped.await_going_on()) return "rank 1 doesn't go on";
    const auto changed = std::ranges::count_if(values, [](float value) { return value != 7.0f; });
    return changed == 0 ? text : std::to_string(changed) + " values were written later on";
  };
  const auto result = run(3, body, {.timeout = 1s});
  const std::string& text = result.ranks[0].findings;
  BOOST_TEST(text.starts_with("Timeout: rank "), text);
  BOOST_TEST((text.find("stopped by a signal") != std::string::npos), text);
  for (const auto& rank : result.ranks) BOOST_TEST(rank.findings == text);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::distributed
