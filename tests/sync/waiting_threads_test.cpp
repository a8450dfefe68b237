// No wake-up is lost between threads: what the thread sanitizer can watch.

#include "tests/sync/seed.h"
#include "tests/sync/turns.h"

#include "lib/shm/segment.h"
#include "lib/sync/usable_cpus.h"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace tensorplay::sync {
namespace {

constexpr int kMoreThanCpus = shm::kRankCountMax + 1;

// Runs the turns with a thread per rank; the findings of all.
std::string run(TurnsOptions options) {
  options.seed = seed_of_test();
  BOOST_TEST_MESSAGE("TENSORPLAY_TEST_SEED=" << options.seed);
  const auto segment = shm::Segment::create_anonymous({.world_size = options.rank_count});
  publish_usable_cpus(segment->header());
  std::vector<std::string> findings(static_cast<std::size_t>(options.rank_count));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < options.rank_count; ++rank) {
    threads.emplace_back([&, rank] {
      findings[static_cast<std::size_t>(rank)] = take_turns(*segment, rank, options);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::string all;
  for (const std::string& finding : findings) all += finding;
  // Relaxed: the threads have ended.
  if (segment->header().sleeper_count.load(std::memory_order_relaxed) != 0) {
    all += "sleepers are still counted";
  }
  return all;
}

BOOST_AUTO_TEST_SUITE(waiting_threads)

BOOST_AUTO_TEST_CASE(two_that_wait_for_each_other_are_always_woken) {
  BOOST_TEST(run({.rounds = 100'000}) == "");
}

BOOST_AUTO_TEST_CASE(two_on_too_few_cpus_are_always_woken) {
  BOOST_TEST(run({.rounds = 100'000, .competitors = kMoreThanCpus}) == "");
}

BOOST_AUTO_TEST_CASE(two_that_never_spin_are_always_woken) {
  BOOST_TEST(run({.rounds = 100'000, .naked_sleeps = true}) == "");
}

BOOST_AUTO_TEST_CASE(eight_on_too_few_cpus_are_always_woken) {
  BOOST_TEST(run({.rank_count = 8, .rounds = 5'000, .competitors = kMoreThanCpus}) == "");
}

BOOST_AUTO_TEST_CASE(random_delays_lose_no_wake_up) {
  BOOST_TEST(run({.rounds = 5'000, .competitors = kMoreThanCpus, .delay_every = 3}) == "");
  BOOST_TEST(run({.rank_count = 4, .rounds = 2'000, .naked_sleeps = true, .delay_every = 5}) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::sync
