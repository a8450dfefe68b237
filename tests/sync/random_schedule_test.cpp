#include "tests/sync/random_schedule.h"

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <random>
#include <string>

namespace tensorplay::sync {
namespace {

constexpr int kJobs = 300;

// The first of the seeds: $TENSORPLAY_TEST_SEED, or else a new one. Printed.
std::uint64_t first_seed() {
  const char* given = std::getenv("TENSORPLAY_TEST_SEED");
  const std::uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  BOOST_TEST_MESSAGE("TENSORPLAY_TEST_SEED=" << seed);
  return seed;
}

BOOST_AUTO_TEST_SUITE(random_schedule)

BOOST_AUTO_TEST_CASE(of_large_jobs_is_right) {
  const std::uint64_t first = first_seed();
  for (std::uint64_t seed = first; seed < first + kJobs; ++seed) {
    BOOST_REQUIRE_EQUAL(run_in_random_order(random_plan(seed), seed), "");
  }
}

BOOST_AUTO_TEST_CASE(shows_a_window_that_is_one_too_wide) {
  std::string finding;
  for (std::uint64_t seed = 1; seed <= 1000 && finding.empty(); ++seed) {
    const JobPlan plan{
        .rank_count = 2, .iterations = {{60, 60}}, .window = shm::kOperationsInFlight + 1};
    finding = run_in_random_order(plan, seed);
  }
  BOOST_TEST_MESSAGE(finding);
  BOOST_TEST((finding.find("overrun") != std::string::npos ||
              finding.find("overwritten") != std::string::npos));
}

BOOST_AUTO_TEST_CASE(shows_a_rank_that_takes_an_old_absence_for_a_new_one) {
  JobPlan plan{.rank_count = 3, .iterations = {{5, 3, 5}, {4, 4, 4}}, .gap = 0};
  std::string finding;
  for (std::uint64_t seed = 1; seed <= 100 && finding.empty(); ++seed) {
    finding = run_in_random_order(plan, seed);
  }
  BOOST_TEST(finding.find("contributors are wrong") != std::string::npos, finding);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::sync
