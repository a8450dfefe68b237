// The harness itself: what goes wrong in a trial is found.
#include "tests/faults/verdict.h"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace tensorplay::faults {
namespace {

using distributed::PeerFailurePolicy;

Fault kill_at(const char* point, int pass = 1) {
  return {.action = Action::kill, .victim = 1, .point = point, .pass = pass};
}

// What is found when three ranks play that.
std::string findings_of(const std::function<void(Player&)>& play, PeerFailurePolicy policy,
                        std::vector<Fault> faults = {}) {
  static Notebook notebook;
  const Scenario scenario{"of this test", play};
  const Trial trial{&scenario, 3, policy, std::move(faults)};
  return judge(trial, notebook, run(trial, notebook)).findings;
}

void play_well(Player& player) {
  player.census(3);
  player.census(2000);
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

BOOST_AUTO_TEST_SUITE(verdict)

BOOST_AUTO_TEST_CASE(a_job_without_faults_has_no_findings) {
  BOOST_TEST(findings_of(play_well, PeerFailurePolicy::raise) == "");
  BOOST_TEST(findings_of(play_well, PeerFailurePolicy::continue_without) == "");
}

BOOST_AUTO_TEST_CASE(a_victim_alone_is_no_finding) {
  const auto fault = kill_at("arrival.before_published", 2);
  BOOST_TEST(findings_of(play_well, PeerFailurePolicy::raise, {fault}) == "");
  BOOST_TEST(findings_of(play_well, PeerFailurePolicy::continue_without, {fault}) == "");
}

BOOST_AUTO_TEST_CASE(a_wrong_result_is_found) {
  const auto play = [](Player& player) {
    std::int64_t value = player.rank() == 2 ? 7 : 1;
    const auto who = player.group().all_reduce(std::span(&value, 1));
    player.found().equal(value, std::int64_t{who.count()}, "the sum of the ones");
  };
  BOOST_TEST(contains(findings_of(play, PeerFailurePolicy::raise), "the sum of the ones is 9"));
}

BOOST_AUTO_TEST_CASE(contributors_that_are_not_the_living_are_found) {
  const auto play = [](Player& player) { player.note_census(0b011, "of two"); };
  BOOST_TEST(contains(findings_of(play, PeerFailurePolicy::raise), "not over ranks 0, 1, 2"));
}

BOOST_AUTO_TEST_CASE(contributors_that_differ_between_survivors_are_found) {
  const auto play = [](Player& player) {
    player.note_census(player.rank() == 0 ? 0b111 : 0b101, "of some");
  };
  const auto fault = kill_at("arrival.before_published");
  BOOST_TEST(
      contains(findings_of(play, PeerFailurePolicy::continue_without, {fault}), "but rank 2"));
}

BOOST_AUTO_TEST_CASE(a_state_that_differs_is_found) {
  const auto play = [](Player& player) {
    player.note_state(static_cast<std::uint64_t>(player.rank()), "weights");
  };
  BOOST_TEST(contains(findings_of(play, PeerFailurePolicy::raise), "weights"));
}

// As if the dead came back.
BOOST_AUTO_TEST_CASE(a_victim_that_comes_back_is_found) {
  const auto play = [](Player& player) {
    player.census(3);
    player.group().barrier();  // where it dies
    player.note_census(0b101, "without it");
    player.note_census(0b111, "with it");
  };
  const auto fault = kill_at("arrival.before_published", 2);
  BOOST_TEST(contains(findings_of(play, PeerFailurePolicy::continue_without, {fault}), "back in"));
}

BOOST_AUTO_TEST_CASE(a_failure_that_nobody_caused_is_found) {
  const auto play = [](Player& player) {
    player.census(3);
    if (player.rank() == 1) throw InjectedException("a bug");
  };
  BOOST_TEST(contains(findings_of(play, PeerFailurePolicy::raise), "was told"));
  BOOST_TEST(contains(findings_of(play, PeerFailurePolicy::raise), "a bug"));
}

BOOST_AUTO_TEST_CASE(a_result_that_a_stop_has_changed_is_found) {
  static Notebook notebook;
  static Notebook undisturbed;
  const Scenario scenario{"of this test", play_well};
  const Scenario other{"of this test", [](Player& player) { player.census(3); }};
  const Trial trial{&scenario, 2, PeerFailurePolicy::raise, {}};
  run(trial, undisturbed);
  run(trial, notebook);
  BOOST_TEST(compare_with_undisturbed(trial, notebook, undisturbed) == "");
  run({&other, 2, PeerFailurePolicy::raise, {}}, notebook);
  BOOST_TEST(contains(compare_with_undisturbed(trial, notebook, undisturbed), "entries of rank"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::faults
