// A rank dies at any step of any protocol: the others are told, or go on without it.
#include "tests/faults/campaign.h"
#include "tests/worlds/world_test.h"

#include <boost/test/unit_test.hpp>

#include <cstdio>

namespace tensorplay::faults {
namespace {

using distributed::PeerFailurePolicy;

void expect_nothing_found(Campaign& campaign) {
  std::printf("%s\n", campaign.tally().text().c_str());
  BOOST_TEST(campaign.findings() == "");
  BOOST_TEST(campaign.tally().trials > 0);
}

void end_everywhere(PeerFailurePolicy policy) {
  Campaign campaign(worlds::seed_of_test("a rank dies at any step"));
  const Action actions[] = {Action::kill, Action::abort, Action::exit};
  for (std::size_t i = 0; i < all_scenarios().size(); ++i) {
    campaign.run(all_scenarios()[i], policy, Action::kill);
    campaign.run(all_scenarios()[i], policy, actions[1 + i % 2]);
  }
  expect_nothing_found(campaign);
}

void end_in_pairs(PeerFailurePolicy policy) {
  Campaign campaign(worlds::seed_of_test("two ranks die"));
  for (const Scenario& scenario : all_scenarios()) {
    campaign.run_pairs(scenario, policy, Action::kill);
  }
  expect_nothing_found(campaign);
}

BOOST_AUTO_TEST_SUITE(kill)

BOOST_AUTO_TEST_CASE(whoever_dies_at_any_step_all_others_are_told_the_same) {
  end_everywhere(PeerFailurePolicy::raise);
}

BOOST_AUTO_TEST_CASE(whoever_dies_at_any_step_the_others_go_on_with_the_right_results) {
  end_everywhere(PeerFailurePolicy::continue_without);
}

BOOST_AUTO_TEST_CASE(when_two_die_all_others_are_told_the_same) {
  end_in_pairs(PeerFailurePolicy::raise);
}

BOOST_AUTO_TEST_CASE(when_two_die_the_others_go_on_with_the_right_results) {
  end_in_pairs(PeerFailurePolicy::continue_without);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::faults
