// An exception at any step of any protocol: the rank leaves, the others are told, or go on.
#include "tests/faults/campaign.h"
#include "tests/worlds/world_test.h"

#include <boost/test/unit_test.hpp>

#include <cstdio>

namespace tensorplay::faults {
namespace {

using distributed::PeerFailurePolicy;

void raise_everywhere(PeerFailurePolicy policy) {
  Campaign campaign(worlds::seed_of_test("an exception at any step"));
  for (const Scenario& scenario : all_scenarios()) campaign.run(scenario, policy, Action::raise);
  std::printf("%s\n", campaign.tally().text().c_str());
  BOOST_TEST(campaign.findings() == "");
  BOOST_TEST(campaign.tally().trials > 0);
}

BOOST_AUTO_TEST_SUITE(raise)

BOOST_AUTO_TEST_CASE(whatever_an_exception_interrupts_all_others_are_told_the_same) {
  raise_everywhere(PeerFailurePolicy::raise);
}

BOOST_AUTO_TEST_CASE(whatever_an_exception_interrupts_the_others_go_on_with_the_right_results) {
  raise_everywhere(PeerFailurePolicy::continue_without);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::faults
