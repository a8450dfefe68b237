// A rank that dies in the midst of something: all others are told soon, all the same.

#include "tests/distributed/counter.h"
#include "tests/distributed/endings.h"
#include "tests/distributed/expect_told.h"
#include "tests/distributed/told.h"

#include <tensorplay/distributed/algorithms/join.h>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace tensorplay::distributed {
namespace {

using algorithms::with_join;
using namespace std::chrono_literals;

constexpr int kForever = 100'000'000;

BOOST_AUTO_TEST_SUITE(moments)

// 0.3 to 80 ms: in the midst of the copying, or close to its begin.
const std::vector<int> kMicroseconds{300, 3'000, 11'000, 27'000, 80'000};

BOOST_DATA_TEST_CASE(in_the_midst_of_staged_operations, kMicroseconds, delay) {
  const auto result = run(3, [&](ProcessGroup& group) -> std::string {
    if (group.rank() == 1) be_killed_after(std::chrono::microseconds(delay));
    return told(group, [&] { add_up(group, 1'500'000, kForever); });
  });
  expect_told(result, 1, {"rank 1, killed: ", "all_reduce (sum, float32, 1500000 elements)"});
}

BOOST_DATA_TEST_CASE(in_the_midst_of_operations_in_the_arenas, kMicroseconds, delay) {
  const auto result = run(3, [&](ProcessGroup& group) -> std::string {
    const std::span<float> values = group.allocate<float>(2'000'000);
    if (group.rank() == 1) be_killed_after(std::chrono::microseconds(delay));
    return told(group, [&] {
      for (;;) group.all_reduce(values);
    });
  });
  expect_told(result, 1, {"rank 1, killed: ", "all_reduce (sum, float32, 2000000 elements)"});
}

BOOST_DATA_TEST_CASE(in_the_midst_of_small_operations, kMicroseconds, delay) {
  const auto result = run(4, [&](ProcessGroup& group) -> std::string {
    if (group.rank() == 2) be_killed_after(std::chrono::microseconds(delay));
    return told(group, [&] { add_up(group, 3, kForever); });
  });
  expect_told(result, 2, {"rank 2, killed: ", "all_reduce (sum, float32, 3 elements)"});
}

BOOST_DATA_TEST_CASE(in_the_midst_of_splits, kMicroseconds, delay) {
  const auto result = run(3, [&](ProcessGroup& group) -> std::string {
    if (group.rank() == 1) be_killed_after(std::chrono::microseconds(delay));
    return told(group, [&] {
      for (;;) group.split(group.rank() % 2, 0);
    });
  });
  expect_told(result, 1, {"rank 1, killed: ", "while the group waited for it in all_"});
}

BOOST_AUTO_TEST_CASE(while_the_others_ask_whether_it_is_completed) {
  const auto result = run(3, [](ProcessGroup& group) -> std::string {
    if (group.rank() == 1) raise(SIGKILL);
    bool in_time = true;
    const std::string text = told(group, [&] {
      Work work = group.barrier_async();
      const auto end = std::chrono::steady_clock::now() + 20s;
      while (in_time && !work.is_completed()) {
        in_time = std::chrono::steady_clock::now() < end;
        std::this_thread::yield();
      }
      if (in_time) work.wait();
    });
    return in_time ? text : "never completed";
  });
  expect_told(result, 1, {"rank 1, killed: ", "in barrier, operation 1"});
}

BOOST_AUTO_TEST_CASE(while_the_others_sleep_joined) {
  const auto result = run(3, [](ProcessGroup& group) -> std::string {
    Counter counter(group);
    return told(group, [&] {
      with_join({counter}, {}, [&] {
        counter.count();
        if (group.rank() != 1) return;
        std::this_thread::sleep_for(300ms);
        raise(SIGKILL);
      });
    });
  });
  expect_told(result, 1, {"rank 1, killed: ", "rank 1 (pid ", "signal 9"});
}

BOOST_AUTO_TEST_CASE(by_an_exception_in_a_join_loop_while_others_sleep_and_others_go_on) {
  const auto result = run(4, [](ProcessGroup& group) -> std::string {
    Counter counter(group);
    const auto loop = [&] {
      for (int i = 0; i < (group.rank() == 0 ? 2 : kForever); ++i) {
        if (group.rank() == 3 && i == 50) throw std::runtime_error("the disk is full");
        counter.count();
      }
    };
    return told(group, [&] { with_join({counter}, {}, loop); });
  });
  expect_told(result, 3, {"rank 3, raised: ", "the disk is full"});
}

BOOST_AUTO_TEST_CASE(in_a_post_hook) {
  const auto result = run(3, [](ProcessGroup& group) -> std::string {
    Counter counter(group, [](ProcessGroup& own) {
      add_up(own, 100, 3);
      if (own.rank() == 0) raise(SIGKILL);
      add_up(own, 7, 1);
    });
    return told(group, [&] { with_join({counter}, {}, [&] { counter.count(); }); });
  });
  expect_told(result, 0, {"rank 0, killed: ", "all_reduce (sum, float32, 7 elements)"});
}

BOOST_AUTO_TEST_CASE(in_a_part_of_the_group_whose_other_part_goes_on) {
  const auto result = run(4, [](ProcessGroup& group) -> std::string {
    ProcessGroup half = group.split(group.rank() / 2, 0);
    add_up(half, 10, 3);
    // When this has ended nobody uses the whole group any more before it has failed.
    ProcessGroup same = group.split(0, 0);
    same.barrier();
    if (group.rank() == 3) raise(SIGKILL);
    std::string in_half = "fine";
    if (group.rank() == 2) {
      in_half = told(half, [&] { add_up(half, 10, 1); });
    } else {
      std::this_thread::sleep_for(100ms);
      add_up(half, 10'000, 20);
    }
    return in_half + " | " + told(group, [&] { group.barrier(); });
  });
  for (const std::size_t rank : {0u, 1u}) {
    BOOST_TEST(result.ranks[rank].findings.starts_with("fine | rank 3, killed: rank 3 (pid "),
               result.ranks[rank].findings);
  }
  const std::string& other = result.ranks[2].findings;
  BOOST_TEST(other.starts_with("rank 1, killed: rank 1 (rank 3 of the job) (pid "), other);
  BOOST_TEST((other.find(" | rank 3, killed: ") != std::string::npos), other);
}

// It has given all that the others wait for: they need it again only after the context.
BOOST_AUTO_TEST_CASE(asleep_at_the_end_of_its_context_while_the_others_train_on) {
  const auto result = run(3, [](ProcessGroup& group) -> std::string {
    Counter counter(group);
    std::string iterations = "none";
    if (group.rank() == 1) be_killed_after(100ms);
    const std::string text = told(group, [&] {
      if (iterations != "none") return group.barrier(), void();
      const auto report = with_join({counter}, {}, [&] {
        for (int i = 0; i < (group.rank() == 1 ? 2 : 40); ++i) {
          counter.count();
          if (group.rank() != 1) std::this_thread::sleep_for(10ms);
        }
      });
      for (const auto& rank : report.ranks) iterations += " " + std::to_string(rank.iterations);
      group.barrier();
    });
    return iterations + ", " + text;
  });
  expect_told(result, 1, {"none 40 2 40, rank 1, killed: ", "signal 9", "barrier"});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::distributed
