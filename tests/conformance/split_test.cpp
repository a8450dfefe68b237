// Groups made from groups.

#include "tests/conformance/oracle.h"
#include "tests/conformance/plan.h"
#include "tests/worlds/world_test.h"

#include <cstdlib>
#include <optional>
#include <thread>
#include <utility>

namespace tensorplay::conformance {
namespace {

using worlds::Findings;
using worlds::run_world;

// The sum of `value` over the group.
std::int64_t sum_of(ProcessGroup& group, std::int64_t value) {
  group.all_reduce(std::span(&value, 1));
  return value;
}

BOOST_AUTO_TEST_SUITE(split)

TP_WORLD_TEST(ranks_of_one_colour_form_a_group_in_the_order_of_their_keys) {
  const auto result = run_world(world, 6, [](ProcessGroup& group) {
    Findings found;
    const int rank = group.rank();
    ProcessGroup half = group.split(rank % 2, -rank);
    found.equal(half.size(), 3, "the size");
    found.equal(half.rank(), 2 - rank / 2, "the rank, last first");
    found.equal(sum_of(half, rank), rank % 2 == 0 ? 0 + 2 + 4 : 1 + 3 + 5, "the sum in the half");
    found.equal(sum_of(group, rank), 15, "the sum in the whole");
    std::int32_t from_first = rank;
    half.broadcast(std::span(&from_first, 1), 0);
    found.equal(from_first, 4 + rank % 2, "what the half's rank 0 sent");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(equal_keys_keep_the_order_of_the_ranks) {
  const auto result = run_world(world, 5, [](ProcessGroup& group) {
    Findings found;
    ProcessGroup same_again = group.split(7, 0);
    found.equal(same_again.rank(), group.rank(), "the rank");
    found.equal(same_again.size(), 5, "the size");
    found.expect(!(same_again == group), "it is another group");
    ProcessGroup copy = same_again;
    found.expect(copy == same_again, "a copy is the same group");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(a_colour_of_ones_own_makes_a_group_of_one) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    ProcessGroup alone = group.split(group.rank(), 0);
    found.equal(alone.size(), 1, "the size");
    found.equal(run_cases(alone, kinds_by_counts(1, {0, 1, 17})), "", "what is wrong alone");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(every_collective_works_in_groups_of_different_sizes) {
  const auto result = run_world(world, 5, [](ProcessGroup& group) {
    ProcessGroup part = group.split(group.rank() < 2 ? 0 : 1, group.rank());
    return run_cases(part, kinds_by_counts(part.size(), {0, 1, 8, 17, 3000, 20'000}));
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(groups_of_groups_and_their_parents_can_take_turns) {
  const auto result = run_world(world, 8, [](ProcessGroup& group) {
    Findings found;
    const int rank = group.rank();
    ProcessGroup half = group.split(rank / 4, rank);
    ProcessGroup quarter = half.split(half.rank() / 2, -half.rank());
    for (int round = 0; round < 50; ++round) {
      found.equal(sum_of(quarter, rank + round), rank / 2 * 4 + 1 + 2 * round, "a quarter's sum");
      found.equal(sum_of(half, rank), rank / 4 == 0 ? 6 : 22, "a half's sum");
      if (round % 3 == 0) found.equal(sum_of(group, rank), 28, "the whole's sum");
    }
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

// Groups of one process are independent: neither may wait for the other's operations in between.
TP_WORLD_TEST(operations_of_two_groups_can_be_waited_for_in_opposite_orders) {
  const auto result = run_world(world, 4, [](ProcessGroup& group) {
    Findings found;
    ProcessGroup other = group.split(0, -group.rank());
    for (std::size_t count : {1u, 5'000u, 100'000u}) {
      std::vector<float> first(count, 1.0f);
      std::vector<float> second(count, 2.0f);
      Work in_group = group.all_reduce_async(std::span(first));
      Work in_other = other.all_reduce_async(std::span(second));
      if (group.rank() % 2 == 0) {
        in_group.wait();
        in_other.wait();
      } else {
        in_other.wait();
        in_group.wait();
      }
      found.equal(first.back(), 4.0f, "the sum in the group");
      found.equal(second.back(), 8.0f, "the sum in the other group");
    }
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(operations_of_two_groups_can_be_started_in_opposite_orders) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    ProcessGroup other = group.split(0, group.rank());
    for (int round = 0; round < 100; ++round) {
      std::int64_t a = 1, b = 10;
      Work work_a, work_b;
      if (group.rank() == 1) {
        work_b = other.all_reduce_async(std::span(&b, 1));
        work_a = group.all_reduce_async(std::span(&a, 1));
      } else {
        work_a = group.all_reduce_async(std::span(&a, 1));
        work_b = other.all_reduce_async(std::span(&b, 1));
      }
      work_a.wait();
      work_b.wait();
      found.equal(a, 3, "the group's sum");
      found.equal(b, 30, "the other group's sum");
    }
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(groups_that_ended_make_room_for_new_ones) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    for (int i = 0; i < 300; ++i) {
      ProcessGroup part = group.split(group.rank() == i % 3 ? 1 : 0, 0);
      found.equal(sum_of(part, 1), part.size(), "the sum of ones");
    }
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(one_group_too_many_is_an_error_on_all_ranks) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    std::vector<ProcessGroup> held;
    try {
      for (int i = 0; i < 200; ++i) held.push_back(group.split(0, 0));
    } catch (const SegmentError& error) {
      return std::to_string(held.size()) + " groups, then: " + error.what();
    }
    return std::string("no error");
  });
  BOOST_TEST(result.ranks[0].findings.find("groups, then: ") != std::string::npos);
  BOOST_TEST(result.ranks[0].findings == result.ranks[1].findings);
  BOOST_TEST(std::atoi(result.ranks[0].findings.c_str()) >= 62);
}

TP_WORLD_TEST(a_group_outlives_the_handle_of_its_parent) {
  const auto result = run_world(world, 4, [](ProcessGroup& whole) {
    Findings found;
    std::optional<ProcessGroup> half = whole.split(whole.rank() % 2, 0);
    ProcessGroup quarter = half->split(half->rank(), 0);
    half.reset();
    found.equal(sum_of(quarter, 5), 5, "the sum in a group of one");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

// Random operations in three groups, each rank with delays of its own.
TP_WORLD_TEST(random_operations_in_three_groups_stay_apart) {
  const std::uint64_t seed = worlds::seed_of_test("three groups");
  const auto result = run_world(world, 4, [=](ProcessGroup& group) {
    ProcessGroup halves = group.split(group.rank() % 2, 0);
    ProcessGroup pairs = group.split(group.rank() / 2, 0);
    ProcessGroup* const groups[] = {&group, &halves, &pairs};
    std::uint64_t random = seed;
    std::uint64_t own = mix(seed + static_cast<std::uint64_t>(group.rank()));
    for (int i = 0; i < 1000; ++i) {
      random = mix(random);
      ProcessGroup& chosen = *groups[random % 3];
      const Case what = any_case(chosen.size(), random, 5'000);
      own = mix(own);
      if (own % 50 == 0) std::this_thread::sleep_for(std::chrono::microseconds(own % 300));
      const std::string wrong = run_cases(chosen, {what});
      if (!wrong.empty()) return "operation " + std::to_string(i) + ": " + wrong;
    }
    return std::string();
  });
  BOOST_TEST_CONTEXT("seed " << seed) {
    BOOST_TEST(result.findings() == "");
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::conformance
