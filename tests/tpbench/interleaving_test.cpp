// Repeats that are taken again while the machine changes, with a machine that does so on purpose.

#include "tools/tpbench/interleaving.h"

#include <boost/test/unit_test.hpp>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace tensorplay::tpbench {
namespace {

// Gives the probes that it was told, in order, and notes who was asked when.
class Machine {
 public:
  explicit Machine(std::vector<double> probes) : probes_(std::move(probes)) {}

  std::function<double()> probe() {
    return [this] {
      order += 'p';
      return probes_.at(at_++);
    };
  }
  std::vector<std::function<Summary()>> contestants(int count) {
    std::vector<std::function<Summary()>> all;
    for (int i = 0; i < count; ++i) {
      all.push_back([this, i] {
        order += static_cast<char>('0' + i);
        const double value = static_cast<double>(++calls_);
        return Summary{value, value, value, value};
      });
    }
    return all;
  }

  std::string order;

 private:
  std::vector<double> probes_;
  std::size_t at_ = 0;
  int calls_ = 0;
};

BOOST_AUTO_TEST_SUITE(interleaving)

BOOST_AUTO_TEST_CASE(a_probe_comes_before_and_after_every_contestant) {
  Machine machine({1, 1.1, 0.9, 1.2});
  const Repeat repeat = take_repeat(machine.contestants(3), machine.probe());
  BOOST_TEST(machine.order == "p0p1p2p");
  BOOST_TEST(repeat.tries == 1);
  BOOST_TEST(repeat.is_steady);
  BOOST_TEST(repeat.results.size() == 3u);
  BOOST_TEST(repeat.probes.size() == 4u);
}

BOOST_AUTO_TEST_CASE(a_repeat_in_which_the_machine_changed_is_taken_again) {
  Machine machine({1, 1, 3, /* again */ 3, 3.1, 2.9});
  const Repeat repeat = take_repeat(machine.contestants(2), machine.probe());
  BOOST_TEST(machine.order == "p0p1pp0p1p");
  BOOST_TEST(repeat.tries == 2);
  BOOST_TEST(repeat.is_steady);
  BOOST_TEST(repeat.results[0].median == 3);
  BOOST_TEST(repeat.results[1].median == 4);
}

BOOST_AUTO_TEST_CASE(twice_as_long_is_still_the_same_state) {
  BOOST_TEST(are_steady({1, 2, 1.5}, 2));
  BOOST_TEST(!are_steady({1, 2.01, 1.5}, 2));
}

BOOST_AUTO_TEST_CASE(after_the_last_try_the_steadiest_one_counts_and_is_told_to_be_unsteady) {
  Machine machine({1, 9, /* again */ 1, 3, /* again */ 5, 1});
  const Repeat repeat =
      take_repeat(machine.contestants(1), machine.probe(), {.ratio_max = 2, .tries_max = 3});
  BOOST_TEST(repeat.tries == 3);
  BOOST_TEST(!repeat.is_steady);
  BOOST_TEST(repeat.results[0].median == 2);
}

BOOST_AUTO_TEST_CASE(what_a_contestant_throws_ends_the_repeat) {
  Machine machine({1});
  std::vector<std::function<Summary()>> contestants = {
      []() -> Summary { throw std::runtime_error("wrong result"); }};
  BOOST_CHECK_THROW(take_repeat(contestants, machine.probe()), std::runtime_error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::tpbench
