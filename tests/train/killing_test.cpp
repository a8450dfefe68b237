#include "tools/train/killing.h"

#include <sys/wait.h>
#include <unistd.h>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <set>

namespace tensorplay::train {
namespace {

BOOST_AUTO_TEST_SUITE(killing)

BOOST_AUTO_TEST_CASE(different_ranks_die_in_epochs_of_the_run) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto plan = plan_killings(3, 4, 7, seed);
    std::set<int> ranks;
    for (const Killing& killing : plan) {
      ranks.insert(killing.rank);
      BOOST_TEST((killing.rank >= 0 && killing.rank < 4));
      BOOST_TEST((killing.epoch >= 1 && killing.epoch <= 7));
      BOOST_TEST((killing.moment >= 0 && killing.moment < 1));
    }
    BOOST_TEST(ranks.size() == 3u);
  }
  BOOST_TEST(plan_killings(0, 1, 1, 0).empty());
}

BOOST_AUTO_TEST_CASE(every_rank_epoch_and_part_of_an_epoch_has_its_turn) {
  std::set<int> ranks, epochs, tenths;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Killing killing = plan_killings(1, 4, 5, seed).front();
    ranks.insert(killing.rank);
    epochs.insert(killing.epoch);
    tenths.insert(static_cast<int>(killing.moment * 10));
  }
  BOOST_TEST(ranks.size() == 4u);
  BOOST_TEST(epochs.size() == 5u);
  BOOST_TEST(tenths.size() == 10u);
}

BOOST_AUTO_TEST_CASE(a_seed_names_a_plan) {
  const auto one = plan_killings(2, 8, 20, 5), same = plan_killings(2, 8, 20, 5);
  for (std::size_t i = 0; i < one.size(); ++i) {
    BOOST_TEST(one[i].rank == same[i].rank);
    BOOST_TEST(one[i].epoch == same[i].epoch);
    BOOST_TEST(one[i].moment == same[i].moment);
  }
}

// The child lives through the epochs before the planned one, and waits for nothing without a clock.
BOOST_AUTO_TEST_CASE(the_planned_epoch_is_the_last_that_begins) {
  const pid_t child = ::fork();
  if (child == 0) {
    PlannedDeath death({.rank = 0, .epoch = 3, .moment = 0.5}, 1);
    death.epoch_begins(1);
    death.epoch_begins(2);
    death.wait();
    ::alarm(30);
    death.epoch_begins(3);
    death.wait();
    ::_exit(1);
  }
  int status = 0;
  BOOST_TEST(::waitpid(child, &status, 0) == child);
  BOOST_TEST((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::train
