#include "tests/sync/random_schedule.h"

#include "tests/sync/seed.h"
#include "tests/sync/stepped_job.h"

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <string>

namespace tensorplay::sync {
namespace {

constexpr std::uint64_t kJobs = 300;

template <typename PlanOf>
void expect_no_finding(PlanOf&& plan_of) {
  const std::uint64_t first = seed_of_test();
  std::printf("%d random schedules from TENSORPLAY_TEST_SEED=%llu\n", static_cast<int>(kJobs),
              static_cast<unsigned long long>(first));
  for (std::uint64_t seed = first; seed < first + kJobs; ++seed) {
    SteppedJob job(plan_of(seed));
    BOOST_REQUIRE_EQUAL(run_in_random_order(job, seed), "");
  }
}

BOOST_AUTO_TEST_SUITE(random_schedule)

BOOST_AUTO_TEST_CASE(of_large_jobs_is_right) {
  expect_no_finding(random_plan);
}

BOOST_AUTO_TEST_CASE(of_large_jobs_whose_ranks_may_die_is_right) {
  expect_no_finding(random_plan_with_deaths);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::sync
