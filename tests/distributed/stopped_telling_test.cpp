// A rank that is stopped, or dies, while it tells why the group has failed: the others are told
// without it.

#include "tests/distributed/expect_told.h"
#include "tests/distributed/stopped_rank.h"
#include "tests/distributed/told.h"

#include "lib/distributed/group_engine.h"
#include "lib/sync/failure.h"

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <string>

namespace tensorplay::distributed {
namespace {

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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::distributed
