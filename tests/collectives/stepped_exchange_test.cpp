// Several ranks in one thread: their engines are stepped in an order drawn from a seed, so that the
// orders in which ranks post, look, move data and go on are many, and every one can be had again.

#include "lib/distributed/attach.h"
#include "lib/shm/layout.h"
#include "lib/shm/segment.h"
#include "tests/collectives/draws.h"
#include "tests/collectives/stepped_rank.h"
#include "tests/conformance/operation.h"
#include "tests/conformance/plan.h"
#include "tests/worlds/world_test.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tensorplay::conformance {
namespace {

// A schedule: how many ranks, what they call, and how often each has its turn.
struct Schedule {
  explicit Schedule(std::uint64_t seed) : draws(seed) {
    world_size = 2 + static_cast<int>(draws.below(4));
    constexpr std::size_t kBytesMax[] = {40, 3'000, 20'000, 150'000, 400'000};
    const std::size_t bytes_max = kBytesMax[draws.below(5)];
    const std::size_t count = 10 + draws.below(30);
    std::uint64_t random = draws.next();
    while (cases.size() < count) {
      // A small one between large ones now and then, and the other way round.
      const std::size_t most = draws.below(4) == 0 ? kBytesMax[draws.below(5)] : bytes_max;
      cases.push_back(any_case(world_size, random, most));
    }
    // A rank that is often chosen runs ahead as far as the others let it.
    for (int rank = 0; rank < world_size; ++rank) turns.push_back(1 + draws.below(3) * 10);
    starts_of_ten = 1 + draws.below(9);
  }

  std::size_t next_rank() {
    std::size_t all = 0;
    for (const std::size_t one : turns) all += one;
    std::size_t at = draws.below(all);
    std::size_t rank = 0;
    while (at >= turns[rank]) at -= turns[rank++];
    return rank;
  }

  Draws draws;
  int world_size = 0;
  std::vector<Case> cases;
  std::vector<std::size_t> turns;
  std::size_t starts_of_ten = 5;
};

std::vector<SteppedRank> attach_all(int world_size, const std::vector<Case>& cases,
                                    bool own_mappings) {
  const auto segment = shm::Segment::create_anonymous(
      {.world_size = world_size, .arena_bytes = std::size_t{1} << 28});
  std::vector<SteppedRank> ranks;
  for (int rank = 0; rank < world_size; ++rank) {
    ranks.emplace_back(distributed::attach_rank(own_mappings ? segment->map_again() : segment, rank,
                                                std::chrono::minutes(1)),
                       cases, [world_size](std::uint64_t) { return everyone(world_size); });
  }
  return ranks;
}

bool all_done(const std::vector<SteppedRank>& ranks) {
  return std::all_of(ranks.begin(), ranks.end(), [](const auto& rank) { return rank.done(); });
}

// What reusing slots stands on: who has posted n has seen all others at n - kOperationsInFlight.
std::string too_far_apart(const std::vector<SteppedRank>& ranks) {
  std::uint64_t least = ~std::uint64_t{0};
  std::uint64_t most = 0;
  for (const SteppedRank& rank : ranks) {
    const std::uint64_t last = rank.last_posted();
    least = std::min(least, last);
    most = std::max(most, last);
  }
  if (most <= least + shm::kOperationsInFlight) return "";
  return "one rank has posted operation " + std::to_string(most) + ", another one only " +
         std::to_string(least);
}

// Runs the schedule to its end; what went wrong, "" if nothing.
std::string run(Schedule& schedule, std::vector<SteppedRank>& ranks) {
  constexpr int kStepsMax = 1'000'000;
  for (int step = 0; step < kStepsMax; ++step) {
    if (all_done(ranks)) return "";
    SteppedRank& rank = ranks[schedule.next_rank()];
    if (rank.can_start() && schedule.draws.below(10) < schedule.starts_of_ten) {
      rank.start();
    } else if (std::string wrong = rank.look_at_one(schedule.draws); !wrong.empty()) {
      return wrong;
    }
    if (std::string wrong = too_far_apart(ranks); !wrong.empty()) return wrong;
  }
  return "no end after " + std::to_string(kStepsMax) + " steps";
}

std::string run_seed(std::uint64_t seed) {
  Schedule schedule(seed);
  auto ranks = attach_all(schedule.world_size, schedule.cases, seed % 2 == 0);
  return run(schedule, ranks);
}

// The same cases over and over: `count` times.
std::vector<Case> repeated(const std::vector<Case>& cases, int count) {
  std::vector<Case> all;
  for (int i = 0; i < count; ++i) {
    for (Case one : cases) {
      one.salt = all.size();
      all.push_back(one);
    }
  }
  return all;
}

// Lets one rank do all it can, then the next one, and so on; `first` begins.
std::string run_in_turns(const std::vector<Case>& cases, int world_size, std::size_t first) {
  auto ranks = attach_all(world_size, cases, true);
  Draws draws(first);
  for (int round = 0; round < 10'000 && !all_done(ranks); ++round) {
    SteppedRank& rank = ranks[(first + static_cast<std::size_t>(round)) % ranks.size()];
    for (int step = 0; step < 100; ++step) {
      while (rank.can_start()) rank.start();
      if (std::string wrong = rank.look_at_one(draws); !wrong.empty()) return wrong;
      if (std::string wrong = too_far_apart(ranks); !wrong.empty()) return wrong;
    }
  }
  return all_done(ranks) ? "" : "no end";
}

std::string run_in_all_turns(const std::vector<Case>& cases, int world_size) {
  for (std::size_t first = 0; first < static_cast<std::size_t>(world_size); ++first) {
    const std::string wrong = run_in_turns(cases, world_size, first);
    if (!wrong.empty()) return "rank " + std::to_string(first) + " first: " + wrong;
  }
  return "";
}

BOOST_AUTO_TEST_SUITE(stepped_exchange)

BOOST_AUTO_TEST_CASE(operations_in_flight_are_right_in_any_order_of_steps) {
  constexpr std::uint64_t kSchedules = worlds::kSanitized ? 60 : 250;
  const std::uint64_t seed = worlds::seed_of_test("any order of steps");
  for (std::uint64_t i = 0; i < kSchedules; ++i) {
    const std::string wrong = run_seed(seed + i);
    BOOST_TEST(wrong == "", "TENSORPLAY_TEST_SEED=" << seed + i << ": " << wrong);
    if (!wrong.empty()) break;
  }
}

// Small operations alone: arrival lines and post slots are reused after kOperationSlots.
BOOST_AUTO_TEST_CASE(slots_are_reused_rightly_when_ranks_run_ahead_as_far_as_they_can) {
  const std::vector<Case> cases{
      {.kind = CollectiveKind::all_reduce, .dtype = DType::int64, .count = 4},
      {.kind = CollectiveKind::all_gather, .dtype = DType::int32, .count = 500},
      {.kind = CollectiveKind::broadcast, .dtype = DType::uint8, .root = 1, .count = 8'192},
      {.kind = CollectiveKind::barrier},
      {.kind = CollectiveKind::gather, .dtype = DType::int16, .root = 2, .count = 16},
  };
  BOOST_TEST(run_in_all_turns(repeated(cases, 30), 3) == "");
}

// Each has more rounds than there are staging buffers, and the next one wants them at once.
BOOST_AUTO_TEST_CASE(staging_buffers_pass_from_one_operation_to_the_next_rightly) {
  constexpr std::size_t kCount = (2 * shm::kStagingBuffers + 1) * shm::kChunkBytes / 4 + 5;
  const std::vector<Case> cases{
      {.kind = CollectiveKind::all_reduce, .dtype = DType::int32, .count = kCount},
      {.kind = CollectiveKind::broadcast, .dtype = DType::int32, .root = 1, .count = kCount},
      {.kind = CollectiveKind::reduce, .dtype = DType::int32, .root = 2, .count = kCount},
      {.kind = CollectiveKind::all_to_all, .dtype = DType::int32, .count = kCount / 3},
      {.kind = CollectiveKind::scatter, .dtype = DType::int32, .root = 0, .count = kCount / 3},
      {.kind = CollectiveKind::gather, .dtype = DType::int32, .root = 1, .count = kCount},
      {.kind = CollectiveKind::reduce_scatter, .dtype = DType::int32, .count = kCount / 3},
      {.kind = CollectiveKind::all_gather, .dtype = DType::int32, .count = kCount},
  };
  BOOST_TEST(run_in_all_turns(repeated(cases, 2), 3) == "");
}

// From arena to arena and through the buffers, one after the other.
BOOST_AUTO_TEST_CASE(operations_in_arenas_and_staged_ones_may_take_turns) {
  const std::vector<Case> cases{
      {.kind = CollectiveKind::all_reduce, .count = 30'000, .memory = Memory::shared},
      {.kind = CollectiveKind::all_reduce, .count = 30'000, .memory = Memory::own},
      {.kind = CollectiveKind::broadcast, .root = 1, .count = 50'000, .memory = Memory::shared},
      {.kind = CollectiveKind::all_gather, .count = 20'000, .memory = Memory::some_shared},
      {.kind = CollectiveKind::all_to_all, .count = 9'000, .memory = Memory::shared_source},
      {.kind = CollectiveKind::reduce_scatter, .count = 9'000, .memory = Memory::shared},
  };
  BOOST_TEST(run_in_all_turns(repeated(cases, 4), 4) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::conformance
