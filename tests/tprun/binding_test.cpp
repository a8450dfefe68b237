// Which CPUs ranks get, on machines that are made up.
#include "tools/tprun/binding.h"

#include <hwloc.h>
#include <boost/test/unit_test.hpp>

#include <string>

namespace tensorplay::tprun {
namespace {

struct Machine {
  explicit Machine(const char* description) {
    BOOST_REQUIRE(hwloc_topology_init(&topology) == 0);
    BOOST_REQUIRE(hwloc_topology_set_synthetic(topology, description) == 0);
    BOOST_REQUIRE(hwloc_topology_load(topology) == 0);
    usable = hwloc_bitmap_dup(hwloc_topology_get_topology_cpuset(topology));
  }
  ~Machine() {
    hwloc_bitmap_free(usable);
    hwloc_topology_destroy(topology);
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  void allow(int first, int last) {
    hwloc_bitmap_zero(usable);
    hwloc_bitmap_set_range(usable, static_cast<unsigned>(first), last);
  }

  hwloc_topology_t topology = nullptr;
  hwloc_bitmap_t usable = nullptr;
};

// "0-3 4-7": the CPUs of each rank in turn; "" if the ranks aren't bound.
std::string bound(const Machine& machine, BindTo to, int ranks) {
  std::string text;
  for (const cpu_set_t& set : bind_ranks(to, ranks, machine.topology, machine.usable)) {
    int first = 0;
    while (!CPU_ISSET(first, &set)) ++first;
    const int last = first + CPU_COUNT(&set) - 1;
    if (!text.empty()) text += ' ';
    text += std::to_string(first);
    if (last != first) text += '-' + std::to_string(last);
  }
  return text;
}

// 2 nodes, each with 2 caches of 2 cores, which have 2 hardware threads.
constexpr const char* kBig = "numa:2 l3:2 core:2 pu:2";

BOOST_AUTO_TEST_CASE(each_rank_has_a_core_of_its_own_with_all_hardware_threads) {
  BOOST_TEST(bound(Machine(kBig), BindTo::core, 3) == "0-1 2-3 4-5");
}

BOOST_AUTO_TEST_CASE(ranks_are_dealt_out_over_the_caches_in_runs) {
  const Machine machine(kBig);
  BOOST_TEST(bound(machine, BindTo::l3, 1) == "0-3");
  BOOST_TEST(bound(machine, BindTo::l3, 4) == "0-3 4-7 8-11 12-15");
  BOOST_TEST(bound(machine, BindTo::l3, 6) == "0-3 0-3 4-7 8-11 8-11 12-15");
}

BOOST_AUTO_TEST_CASE(ranks_are_dealt_out_over_the_nodes) {
  BOOST_TEST(bound(Machine(kBig), BindTo::numa, 3) == "0-7 0-7 8-15");
}

BOOST_AUTO_TEST_CASE(only_what_tprun_may_use_counts) {
  Machine machine(kBig);
  machine.allow(2, 5);
  BOOST_TEST(bound(machine, BindTo::core, 2) == "2-3 4-5");
  BOOST_TEST(bound(machine, BindTo::l3, 2) == "2-3 4-5");
  BOOST_TEST(bound(machine, BindTo::numa, 2) == "2-5 2-5");
}

BOOST_AUTO_TEST_CASE(a_machine_without_such_caches_counts_as_one) {
  BOOST_TEST(bound(Machine("core:4 pu:1"), BindTo::l3, 2) == "0-3 0-3");
}

BOOST_AUTO_TEST_CASE(by_default_ranks_are_bound_to_caches_unless_there_are_more_than_cores) {
  const Machine machine(kBig);
  BOOST_TEST(bound(machine, BindTo::automatic, 8) == bound(machine, BindTo::l3, 8));
  BOOST_TEST(bound(machine, BindTo::automatic, 9) == "");
}

BOOST_AUTO_TEST_CASE(none_is_none) {
  BOOST_TEST(bound(Machine(kBig), BindTo::none, 2) == "");
}

BOOST_AUTO_TEST_CASE(more_ranks_than_cores_cannot_be_bound_to_cores) {
  const Machine machine(kBig);
  const auto tells_both_numbers = [](const BindingError& error) {
    const std::string text = error.what();
    return text.find("9 ranks") != std::string::npos && text.find("8 usable") != std::string::npos;
  };
  BOOST_CHECK_EXCEPTION(bound(machine, BindTo::core, 9), BindingError, tells_both_numbers);
}

}  // namespace
}  // namespace tensorplay::tprun
