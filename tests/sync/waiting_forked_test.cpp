// No wake-up is lost between processes.

#include "tests/sync/seed.h"
#include "tests/sync/turns.h"

#include "lib/shm/segment.h"
#include "lib/sync/futex.h"
#include "lib/sync/usable_cpus.h"
#include "tests/shm/child_process.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace tensorplay::sync {
namespace {

using testing::ChildProcess;

constexpr int kMoreThanCpus = shm::kRankCountMax + 1;
constexpr std::chrono::minutes kPatience{4};

// Runs the turns with a process per rank; the findings of all.
std::string run(TurnsOptions options) {
  options.seed = seed_of_test();
  BOOST_TEST_MESSAGE("TENSORPLAY_TEST_SEED=" << options.seed);
  const auto segment = shm::Segment::create_anonymous({.world_size = options.rank_count});
  publish_usable_cpus(segment->header());
  std::vector<std::unique_ptr<ChildProcess>> ranks;
  for (int rank = 0; rank < options.rank_count; ++rank) {
    ranks.push_back(std::make_unique<ChildProcess>(
        [&, rank] { return take_turns(*segment->map_again(), rank, options); }));
  }
  std::string all;
  for (const auto& rank : ranks) all += rank->report(kPatience);
  return all;
}

BOOST_AUTO_TEST_SUITE(waiting_processes)

BOOST_AUTO_TEST_CASE(two_that_wait_for_each_other_are_always_woken) {
  BOOST_TEST(run({.rounds = 100'000}) == "");
}

BOOST_AUTO_TEST_CASE(two_that_never_spin_are_always_woken) {
  BOOST_TEST(run({.rounds = 100'000, .naked_sleeps = true}) == "");
}

BOOST_AUTO_TEST_CASE(more_than_there_are_cpus_are_always_woken) {
  const int ranks = 8;
  BOOST_TEST(run({.rank_count = ranks, .rounds = 10'000, .competitors = kMoreThanCpus}) == "");
}

BOOST_AUTO_TEST_CASE(random_delays_lose_no_wake_up) {
  BOOST_TEST(
      run({.rank_count = 4, .rounds = 3'000, .competitors = kMoreThanCpus, .delay_every = 4}) ==
      "");
}

BOOST_AUTO_TEST_CASE(a_futex_wakes_another_process) {
  const auto segment = shm::Segment::create_anonymous({.world_size = 1});
  std::atomic<std::uint32_t>& word = segment->rank_block(0).doorbell.rings;
  std::atomic<std::uint32_t>& asleep = segment->rank_block(0).doorbell.sleeping_for;
  ChildProcess sleeper([&]() -> std::string {
    const auto start = std::chrono::steady_clock::now();
    // Relaxed, here and below: the words stand for themselves.
    asleep.store(1, std::memory_order_relaxed);
    while (word.load(std::memory_order_relaxed) == 0) futex_wait(word, 0, std::chrono::seconds(20));
    const auto taken = std::chrono::steady_clock::now() - start;
    return taken < std::chrono::seconds(19) ? "" : "nobody woke the sleeper";
  });
  // Relaxed: see above.
  while (asleep.load(std::memory_order_relaxed) == 0) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  word.store(1, std::memory_order_relaxed);
  futex_wake_all(word);
  BOOST_TEST(sleeper.report() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::sync
