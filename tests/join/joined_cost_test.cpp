// An operation costs an active rank no more because others have joined: compared with a group in
// which it is alone to begin with.

#include "tests/join/joinables.h"
#include "tests/worlds/world_test.h"

#include <algorithm>
#include <cstdio>
#include <string>

namespace tensorplay::join_tests {
namespace {

using Clock = std::chrono::steady_clock;
using worlds::Findings;
using worlds::run_world;

constexpr int kRepeats = 9;
constexpr int kOperations = worlds::kSanitized ? 1'000 : 10'000;
constexpr double kRatioMax = 3.0;

// Nanoseconds per small all-reduce: the median of several repeats.
double cost_of_operation(ProcessGroup& group) {
  std::vector<double> costs;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < kOperations; ++i) {
      float values[4] = {1, 2, 3, 4};
      group.all_reduce<float>(values);
    }
    const std::chrono::duration<double, std::nano> time = Clock::now() - begin;
    costs.push_back(time.count() / kOperations);
  }
  std::nth_element(costs.begin(), costs.begin() + kRepeats / 2, costs.end());
  return costs[kRepeats / 2];
}

BOOST_AUTO_TEST_SUITE(joined_cost)

TP_WORLD_TEST(an_operation_with_three_of_four_joined_costs_about_as_much_as_alone) {
  const auto result = run_world(world, 4, [](ProcessGroup& group) {
    Findings found;
    ProcessGroup alone = group.split(group.rank(), 0);
    Counter counter(group), single(alone);
    double joined_ns = 0, single_ns = 0;
    with_join({counter}, {}, [&] {
      if (group.rank() != 0) return;
      while (counter.count().count() > 1) {
      }
      joined_ns = cost_of_operation(group);
      with_join({single}, {}, [&] { single_ns = cost_of_operation(alone); });
    });
    if (group.rank() != 0) return found.text();
    const double alone_ns = cost_of_operation(alone);
    std::printf(
        "ns per all-reduce of 16 bytes: %.0f with 3 of 4 ranks joined; in a group of one "
        "%.0f inside a context, %.0f outside\n",
        joined_ns, single_ns, alone_ns);
    found.expect(joined_ns < kRatioMax * std::max(single_ns, alone_ns),
                 std::to_string(joined_ns) + " ns is less than " + std::to_string(kRatioMax) +
                     " times " + std::to_string(single_ns) + " ns");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::join_tests
