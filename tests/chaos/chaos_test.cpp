// A short chaos run. For longer ones: bazel run //tests/chaos -- --seconds 600
#include "tests/chaos/chaos_run.h"
#include "tests/worlds/world_test.h"

#include <boost/test/unit_test.hpp>

#include <cstdio>

namespace tensorplay::chaos {
namespace {

BOOST_AUTO_TEST_CASE(random_jobs_survive_random_faults_with_the_right_results) {
  ChaosRun chaos(worlds::seed_of_test("chaos"));
  chaos.run(std::chrono::seconds(worlds::kSanitized ? 20 : 45));
  std::printf("%s\n", chaos.text().c_str());
  BOOST_TEST(chaos.fine());
}

}  // namespace
}  // namespace tensorplay::chaos
