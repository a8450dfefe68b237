// Several collectives at once: started in one order, waited for in another.

#include "tests/conformance/oracle.h"
#include "tests/conformance/plan.h"
#include "tests/worlds/world_test.h"

#include <algorithm>
#include <thread>

namespace tensorplay::conformance {
namespace {

using worlds::Findings;
using worlds::run_world;

// `count` cases of mixed kinds, sizes and roots.
std::vector<Case> mixed_cases(int world_size, std::size_t count, std::uint64_t random,
                              std::size_t bytes_max) {
  std::vector<Case> cases;
  while (cases.size() < count) cases.push_back(any_case(world_size, random, bytes_max));
  return cases;
}

std::vector<std::unique_ptr<Operation>> start_all(ProcessGroup& group,
                                                  const std::vector<Case>& cases) {
  std::vector<std::unique_ptr<Operation>> operations;
  for (const Case& one : cases) {
    operations.push_back(make_operation(group, one));
    operations.back()->start();
  }
  return operations;
}

// Starts all, finishes them in the order given by `order`.
std::string run_at_once(ProcessGroup& group, const std::vector<Case>& cases,
                        const std::vector<std::size_t>& order) {
  Findings found;
  const auto operations = start_all(group, cases);
  for (std::size_t i : order) {
    const std::string wrong = operations[i]->finish(everyone(group.size()));
    if (!wrong.empty()) found.add(to_string(cases[i]) + ": " + wrong);
  }
  return found.text();
}

std::vector<std::size_t> forward(std::size_t count) {
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  return order;
}

// An order of its own for each seed.
std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> order = forward(count);
  std::sort(order.begin(), order.end(),
            [=](std::size_t a, std::size_t b) { return mix(seed ^ a) < mix(seed ^ b); });
  return order;
}

BOOST_AUTO_TEST_SUITE(async)

TP_WORLD_TEST(forty_operations_can_be_waited_for_in_the_order_of_their_start) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    return run_at_once(group, mixed_cases(3, 40, 1, 40'000), forward(40));
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(forty_operations_can_be_waited_for_backwards) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    std::vector<std::size_t> order = forward(40);
    std::reverse(order.begin(), order.end());
    return run_at_once(group, mixed_cases(3, 40, 2, 40'000), order);
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(every_rank_may_wait_in_an_order_of_its_own) {
  const auto result = run_world(world, 4, [](ProcessGroup& group) {
    for (std::uint64_t round = 0; round < 10; ++round) {
      const auto own = shuffled(60, round * 100 + static_cast<std::uint64_t>(group.rank()));
      const std::string wrong = run_at_once(group, mixed_cases(4, 60, round, 9'000), own);
      if (!wrong.empty()) return "round " + std::to_string(round) + ": " + wrong;
    }
    return std::string();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(large_operations_can_be_in_flight_together) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    std::vector<Case> cases;
    for (CollectiveKind kind : all_kinds()) {
      for (std::uint64_t salt : {1, 2, 3}) {
        cases.push_back({.kind = kind, .count = 200'000, .salt = salt});
      }
    }
    return run_at_once(group, cases,
                       shuffled(cases.size(), static_cast<std::uint64_t>(group.rank())));
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(asking_is_completed_until_it_is_completes_everything) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    const auto cases = mixed_cases(3, 25, 3, 200'000);
    const auto operations = start_all(group, cases);
    std::size_t completed = 0;
    while (completed < operations.size()) {
      completed = static_cast<std::size_t>(
          std::count_if(operations.begin(), operations.end(),
                        [](const auto& operation) { return operation->is_completed(); }));
      std::this_thread::yield();
    }
    Findings found;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const std::string wrong = operations[i]->finish(everyone(3));
      if (!wrong.empty()) found.add(to_string(cases[i]) + ": " + wrong);
    }
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(a_blocking_operation_may_follow_unfinished_ones) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    const auto cases = mixed_cases(3, 10, 4, 20'000);
    const auto operations = start_all(group, cases);
    Findings found;
    found.equal(run_cases(group, mixed_cases(3, 10, 5, 20'000)), "", "what is wrong in between");
    for (std::size_t i = 0; i < cases.size(); ++i) {
      found.equal(operations[i]->finish(everyone(3)), "", to_string(cases[i]));
    }
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(an_operation_isnt_completed_before_all_ranks_have_come) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    Findings found;
    if (group.rank() == 0) {
      float value = 1;
      Work work = group.all_reduce_async(std::span(&value, 1));
      found.expect(!work.is_completed(), "not completed while rank 1 is asleep");
      found.throws<InvalidArgument>([&] { work.contributors(); }, "contributors() too early");
      work.wait();
      found.expect(work.is_completed(), "completed after wait()");
      found.equal(value, 3.0f, "the sum");
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      float value = 2;
      group.all_reduce(std::span(&value, 1));
    }
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(a_dropped_work_doesnt_cancel_its_operation) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    std::vector<float> value(1000, static_cast<float>(group.rank()));
    group.all_reduce_async(std::span(value));
    group.barrier();
    // The barrier started later, but one need not have ended with the other.
    group.all_reduce_async(std::span<float>()).wait();
    for (int i = 0; i < 100 && value[999] != 3.0f; ++i) group.barrier();
    found.equal(value[999], 3.0f, "the sum");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_CASE(a_work_that_refers_to_nothing_is_completed) {
  Work nothing;
  BOOST_TEST(nothing.is_completed());
  BOOST_TEST(nothing.wait().empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::conformance
