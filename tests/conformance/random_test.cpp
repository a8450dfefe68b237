// Thousands of random collectives in a row, with ranks that are late at random.

#include "tests/conformance/oracle.h"
#include "tests/conformance/plan.h"
#include "tests/worlds/world_test.h"

#include <deque>
#include <thread>

namespace tensorplay::conformance {
namespace {

using distributed::PeerFailurePolicy;
using worlds::kSanitized;
using worlds::run_world;
using worlds::seed_of_test;
using worlds::World;

struct Schedule {
  std::uint64_t seed = 0;
  int operation_count = 0;
  std::size_t bytes_max = 0;
  std::size_t in_flight_max = 1;  // more than one: operations are started ahead
};

// Makes a rank late, now and then.
class Tardiness {
 public:
  explicit Tardiness(std::uint64_t seed) : random_(seed) {}

  void maybe_sleep() {
    random_ = mix(random_);
    if (random_ % 40 == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(random_ / 40 % 400));
    }
    if (random_ % 7 == 0) std::this_thread::yield();
  }

  // Which of the operations in flight this rank waits for next.
  std::size_t pick(std::size_t count) {
    random_ = mix(random_);
    return random_ % count;
  }

 private:
  std::uint64_t random_;
};

struct InFlight {
  Case what;
  int number;
  std::unique_ptr<Operation> operation;
};

std::string finish(ProcessGroup& group, InFlight& one) {
  std::string wrong;
  try {
    wrong = one.operation->finish(everyone(group.size()));
  } catch (...) {
    wrong = worlds::describe(std::current_exception());
  }
  if (wrong.empty()) return wrong;
  return "operation " + std::to_string(one.number) + ", " + to_string(one.what) + ": " + wrong;
}

std::string follow(ProcessGroup& group, const Schedule& schedule) {
  std::uint64_t random = schedule.seed;
  Tardiness tardiness(schedule.seed ^ mix(static_cast<std::uint64_t>(group.rank())));
  std::deque<InFlight> in_flight;
  const auto finish_one = [&] {
    const auto at =
        in_flight.begin() + static_cast<std::ptrdiff_t>(tardiness.pick(in_flight.size()));
    const std::string wrong = finish(group, *at);
    in_flight.erase(at);
    return wrong;
  };
  for (int number = 0; number < schedule.operation_count; ++number) {
    const Case what = any_case(group.size(), random, schedule.bytes_max);
    tardiness.maybe_sleep();
    in_flight.push_back({what, number, make_operation(group, what)});
    in_flight.back().operation->start();
    while (in_flight.size() >= schedule.in_flight_max) {
      if (std::string wrong = finish_one(); !wrong.empty()) return wrong;
    }
  }
  while (!in_flight.empty()) {
    if (std::string wrong = finish_one(); !wrong.empty()) return wrong;
  }
  return "";
}

void check(World world, int world_size, const Schedule& schedule) {
  for (const auto policy : {PeerFailurePolicy::raise, PeerFailurePolicy::continue_without}) {
    worlds::WorldOptions options;
    options.on_peer_failure = policy;
    const auto result = run_world(
        world, world_size, [&](ProcessGroup& group) { return follow(group, schedule); }, options);
    BOOST_TEST_CONTEXT("seed " << schedule.seed << ", on_peer_failure = " << name(policy)) {
      BOOST_TEST(result.findings() == "");
    }
  }
}

constexpr int kMany = kSanitized ? 1000 : 4000;

BOOST_AUTO_TEST_SUITE(random)

TP_WORLD_TEST(thousands_of_small_operations_give_what_the_oracle_gives) {
  const std::uint64_t seed = seed_of_test("small operations");
  for (int size : {2, 3, 4}) {
    check(world, size, {.seed = seed, .operation_count = kMany, .bytes_max = 600});
  }
}

TP_WORLD_TEST(operations_of_all_sizes_give_what_the_oracle_gives) {
  const std::uint64_t seed = seed_of_test("all sizes");
  for (int size : {2, 3, 5}) {
    check(world, size, {.seed = seed, .operation_count = kMany / 8, .bytes_max = 300'000});
  }
}

TP_WORLD_TEST(operations_started_ahead_give_what_the_oracle_gives) {
  const std::uint64_t seed = seed_of_test("started ahead");
  for (std::size_t ahead : {2, 5, 30}) {
    check(world, 3,
          {.seed = seed + ahead,
           .operation_count = kMany / 2,
           .bytes_max = 20'000,
           .in_flight_max = ahead});
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::conformance
