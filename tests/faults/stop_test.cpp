// A rank is stopped at any step of any protocol, and continued: nobody takes it for dead, and
// everything is as if nothing had happened.
#include "tests/faults/campaign.h"
#include "tests/worlds/world_test.h"

#include <boost/test/unit_test.hpp>

#include <cstdio>

namespace tensorplay::faults {
namespace {

using distributed::PeerFailurePolicy;

void stop_everywhere(PeerFailurePolicy policy) {
  Campaign campaign(worlds::seed_of_test("a stop at any step"));
  for (const Scenario& scenario : all_scenarios()) campaign.run(scenario, policy, Action::stop);
  std::printf("%s\n", campaign.tally().text().c_str());
  BOOST_TEST(campaign.findings() == "");
  BOOST_TEST(campaign.tally().trials > 0);
}

BOOST_AUTO_TEST_SUITE(stop)

BOOST_AUTO_TEST_CASE(a_rank_that_is_stopped_and_continued_does_no_harm) {
  stop_everywhere(PeerFailurePolicy::raise);
}

BOOST_AUTO_TEST_CASE(a_rank_that_is_stopped_and_continued_is_not_left_behind) {
  stop_everywhere(PeerFailurePolicy::continue_without);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::faults
