// A joined rank that sleeps while another group waits for it.

#include "tests/distributed/counter.h"
#include "tests/distributed/expect_told.h"
#include "tests/distributed/told.h"

#include <tensorplay/distributed/algorithms/join.h>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace tensorplay::distributed {
namespace {

using algorithms::with_join;
using namespace std::chrono_literals;

BOOST_AUTO_TEST_SUITE(join_deadlock)

// Rank 1 joins in the context of all; rank 0, which hasn't joined, waits for it in their pair.
BOOST_AUTO_TEST_CASE(is_told_at_once_and_names_the_sleeper) {
  const auto result = run(3, [](ProcessGroup& group) -> std::string {
    ProcessGroup pair = group.split(group.rank() == 2 ? 1 : 0, 0);
    Counter counter(group);
    return thrown_by([&] {
      with_join({counter}, {}, [&] {
        for (int i = 0; i < 3; ++i) counter.count();
        if (group.rank() == 0) pair.barrier();
      });
    });
  });
  const std::string& waiting = result.ranks[0].findings;
  BOOST_TEST(waiting.starts_with("CollectiveMismatch: deadlock: rank 1 (rank 1 of the job) has "),
             waiting);
  for (const char* words :
       {"another group (3 ranks)", "but rank 0 (rank 0 of the job) hasn't joined",
        "barrier, operation 1"}) {
    BOOST_TEST((waiting.find(words) != std::string::npos), waiting << " lacks " << words);
  }
  for (const std::size_t rank : {1U, 2U}) {
    const std::string& text = result.ranks[rank].findings;
    BOOST_TEST(text.starts_with("rank 0, raised: "), text);
    BOOST_TEST((text.find("deadlock: rank 1") != std::string::npos), text);
  }
  for (const auto& outcome : result.ranks) BOOST_TEST((outcome.ended_after < kSoon));
}

// The pair's context ends although rank 2 waits for one of its joined ranks: rank 2 isn't in it.
BOOST_AUTO_TEST_CASE(is_not_seen_where_somebody_else_waits) {
  const auto result = run(3, [](ProcessGroup& group) -> std::string {
    ProcessGroup pair = group.split(group.rank() == 2 ? 1 : 0, 0);
    Counter counter(pair);
    for (int round = 0; round < 3; ++round) {
      if (group.rank() != 2) {
        with_join({counter}, {}, [&] {
          if (group.rank() == 0) std::this_thread::sleep_for(200ms);
        });
      }
      group.barrier();
    }
    return "";
  });
  BOOST_TEST(result.findings() == "");
}

// The sleeper wakes for what it had issued before.
BOOST_AUTO_TEST_CASE(is_not_seen_while_the_sleeper_has_something_under_way) {
  const auto result = run(2, [](ProcessGroup& group) -> std::string {
    ProcessGroup pair = group.split(0, 0);
    Counter counter(group);
    std::vector<std::int64_t> ones(20, 1);
    with_join({counter}, {}, [&] {
      std::vector<Work> works;
      for (std::int64_t& one : ones) {
        if (group.rank() == 0) std::this_thread::sleep_for(20ms);
        works.push_back(pair.all_reduce_async(std::span(&one, 1)));
        if (group.rank() == 0) works.back().wait();
      }
    });
    pair.barrier();
    std::int64_t sum = 0;
    for (const std::int64_t one : ones) sum += one;
    return sum == 40 ? "" : "the sum is " + std::to_string(sum);
  });
  BOOST_TEST(result.findings() == "");
}

// Whoever asks instead of waiting goes on, joins, and gets its answer after the context.
BOOST_AUTO_TEST_CASE(is_not_seen_where_a_rank_only_asks) {
  const auto result = run(2, [](ProcessGroup& group) -> std::string {
    ProcessGroup pair = group.split(0, 0);
    Counter counter(group);
    Work work;
    with_join({counter}, {}, [&] {
      if (group.rank() != 0) return;
      work = pair.barrier_async();
      for (int i = 0; i < 30; ++i) {
        std::this_thread::sleep_for(10ms);
        if (work.is_completed()) return;
      }
    });
    if (group.rank() == 1) work = pair.barrier_async();
    work.wait();
    return "";
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::distributed
