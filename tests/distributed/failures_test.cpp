// What the others are told of a rank that ends where nobody looks, or that lives but doesn't come.

#include "tests/distributed/expect_told.h"
#include "tests/distributed/told.h"

#include <unistd.h>

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

BOOST_AUTO_TEST_SUITE(living_ranks)

BOOST_AUTO_TEST_CASE(a_mismatch_is_the_same_on_all_ranks) {
  const auto result = run(3, [](ProcessGroup& group) -> std::string {
    add_up(group, 4, 3);
    return told(group, [&] { add_up(group, group.rank() == 1 ? 5 : 4, 1); });
  });
  expect_told(result, 1,
              {"CollectiveMismatch: ", "operation 4", "rank 1 calls all_reduce (sum, float32, 5",
               " all_reduce (sum, float32, 4 elements)"});
  BOOST_TEST(result.ranks[1].findings == result.ranks[0].findings);
}

// The late rank gets the others' Timeout when it comes.
BOOST_AUTO_TEST_CASE(a_rank_that_is_late_is_named_and_told_itself) {
  const auto result = run(3,
                          [](ProcessGroup& group) -> std::string {
                            add_up(group, 4, 2);
                            if (group.rank() == 2) std::this_thread::sleep_for(4s);
                            return told(group, [&] { group.barrier(); });
                          },
                          {.timeout = 1500ms});
  expect_told(result, 2,
              {"Timeout: ", "in barrier, operation 3 for rank 2", "rank 2 lives (pid ", "sleeping",
               "its last collective here was operation 2"});
  BOOST_TEST(result.ranks[2].findings == result.ranks[0].findings);
}

// Stopped until somebody has had the Timeout, then it goes on.
BOOST_AUTO_TEST_CASE(a_stopped_rank_is_named_as_such) {
  const auto result = run(3,
                          [](ProcessGroup& group) -> std::string {
                            std::int32_t pid = getpid();
                            group.broadcast(std::span(&pid, 1), 1);
                            if (group.rank() == 1) raise(SIGSTOP);
                            const std::string text = told(group, [&] { group.barrier(); });
                            if (group.rank() == 0) kill(pid, SIGCONT);
                            return text;
                          },
                          {.timeout = 1500ms});
  expect_told(result, 1,
              {"Timeout: ", "in barrier, operation 2 for rank 1", "stopped by a signal",
               "its last collective here was operation 1"});
  BOOST_TEST(result.ranks[1].findings == result.ranks[0].findings);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::distributed
