// What the others are told of a rank that ends where nobody looks.

#include "tests/distributed/expect_told.h"
#include "tests/distributed/told.h"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <span>
#include <string>
#include <thread>

namespace tensorplay::distributed {
namespace {

using namespace std::chrono_literals;

constexpr int kForever = 100'000'000;

BOOST_AUTO_TEST_SUITE(unseen_ends)

BOOST_AUTO_TEST_CASE(a_rank_that_gives_up_its_group_early_is_told) {
  const auto result = run(3, [](ProcessGroup& group) -> std::string {
    if (group.rank() != 0) return told(group, [&] { add_up(group, 10, kForever); });
    add_up(group, 10, 2);
    return "went home";
  });
  BOOST_TEST(result.ranks[0].findings == "went home");
  expect_told(result, 0, {"rank 0, exited: ", "gave up the group", "operation 3"});
}

BOOST_AUTO_TEST_CASE(a_rank_that_dies_where_nobody_waits_is_told_at_the_next_operation) {
  const auto result = run(3, [](ProcessGroup& group) -> std::string {
    if (group.rank() == 2) raise(SIGKILL);
    std::this_thread::sleep_for(200ms);
    return told(group, [&] { group.barrier(); });
  });
  expect_told(result, 2, {"rank 2, killed: ", "in barrier, operation 1"});
}

// What it had posted before it died counts.
BOOST_AUTO_TEST_CASE(operations_that_a_dead_rank_had_finished_posting_are_completed) {
  const auto result = run(2, [](ProcessGroup& group) -> std::string {
    std::int64_t one = 1;
    if (group.rank() == 1) {
      group.all_reduce_async(std::span(&one, 1));
      raise(SIGKILL);
    }
    std::this_thread::sleep_for(200ms);
    group.all_reduce(std::span(&one, 1));
    return std::to_string(one) + " " + told(group, [&] { group.barrier(); });
  });
  expect_told(result, 1, {"2 rank 1, killed: ", "operation 2"});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::distributed
