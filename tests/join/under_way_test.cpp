// Ranks that join while operations are under way: each operation keeps the contributors it began
// with.

#include "tests/conformance/oracle.h"
#include "tests/join/joinables.h"
#include "tests/worlds/world_test.h"

#include <string>
#include <thread>

namespace tensorplay::join_tests {
namespace {

using conformance::mix;
using worlds::Findings;
using worlds::kSanitized;
using worlds::run_world;
using worlds::seed_of_test;
using worlds::World;

// One all-reduce of ones, and who should have taken part.
struct Flight {
  std::vector<float> values;
  Work work;
};

// In one context, rank r starts starts[r] operations before it waits for any of them.
std::string start_and_wait(ProcessGroup& group, const std::vector<int>& starts, std::size_t count,
                           std::uint64_t& own_random) {
  Findings found;
  Scripted unused(group);
  Join join({unused}, {});
  std::vector<Flight> flights;
  for (int i = 0; i < own(starts, group); ++i) {
    own_random = mix(own_random);
    if (own_random % 3 == 0) std::this_thread::yield();
    Flight& flight = flights.emplace_back();
    flight.values.assign(count, 1.0f);
    flight.work = group.all_reduce_async(std::span(flight.values));
  }
  for (int i = 0; i < own(starts, group); ++i) {
    Flight& flight = flights[static_cast<std::size_t>(i)];
    const Contributors active = active_at(starts, i);
    found.equal(to_string(flight.work.wait()), to_string(active), "contributors");
    found.equal(flight.values.back(), static_cast<float>(active.count()), "the sum of ones");
  }
  join.finish();
  return found.text();
}

void check(World world, int world_size, std::size_t count, int rounds) {
  const std::uint64_t seed = seed_of_test("under way");
  const auto result = run_world(world, world_size, [=](ProcessGroup& group) {
    std::uint64_t random = seed;
    std::uint64_t own_random = mix(seed + static_cast<std::uint64_t>(group.rank()));
    for (int round = 0; round < rounds; ++round) {
      std::vector<int> starts;
      for (int rank = 0; rank < world_size; ++rank) {
        random = mix(random);
        starts.push_back(static_cast<int>(random % 12));
      }
      const std::string wrong = start_and_wait(group, starts, count, own_random);
      if (!wrong.empty()) return "round " + std::to_string(round) + ": " + wrong;
    }
    return std::string();
  });
  BOOST_TEST_CONTEXT("seed " << seed << ", " << count << " elements") {
    BOOST_TEST(result.findings() == "");
  }
}

BOOST_AUTO_TEST_SUITE(under_way)

TP_WORLD_TEST(small_operations_keep_their_contributors) {
  check(world, 3, 2, kSanitized ? 300 : 3'000);
  check(world, 5, 2, kSanitized ? 150 : 1'500);
}

TP_WORLD_TEST(posted_operations_keep_their_contributors) {
  check(world, 4, 700, kSanitized ? 150 : 1'000);
}

TP_WORLD_TEST(large_operations_keep_their_contributors) {
  check(world, 3, 40'000, kSanitized ? 20 : 100);
}

TP_WORLD_TEST(operations_started_before_a_context_can_be_waited_for_inside) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    Counter counter(group);
    for (int round = 0; round < 100; ++round) {
      std::vector<Flight> before(20);  // more than are under way at once
      for (Flight& flight : before) {
        flight.values.assign(10, 1.0f);
        flight.work = group.all_reduce_async(std::span(flight.values));
      }
      with_join({counter}, {}, [&] {
        for (int i = 0; i < (group.rank() + round) % 3; ++i) {
          counter.count();
          found.equal(before[0].work.wait().count(), 3, "the contributors from before");
        }
      });
      for (Flight& flight : before) {
        found.equal(flight.work.wait().count(), 3, "the contributors from before");
        found.equal(flight.values[9], 3.0f, "the sum from before");
      }
    }
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::join_tests
