#include "lib/sync/usable_cpus.h"

#include "lib/shm/segment.h"
#include "tests/shm/child_process.h"

#include <sched.h>
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <vector>

namespace tensorplay::sync {
namespace {

std::vector<int> own_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) cpus.push_back(cpu);
  }
  return cpus;
}

int with_quota(std::size_t cpus) {
  const int quota = cgroup_cpus();
  return quota > 0 ? std::min(static_cast<int>(cpus), quota) : static_cast<int>(cpus);
}

struct OneSegment {
  std::shared_ptr<shm::Segment> segment = shm::Segment::create_anonymous({.world_size = 4});
  shm::SegmentHeader& header = segment->header();

  // Publishes as a process that may run on one CPU only.
  std::string publish_from(int cpu) {
    testing::ChildProcess child([&]() -> std::string {
      cpu_set_t set;
      CPU_ZERO(&set);
      CPU_SET(static_cast<std::size_t>(cpu), &set);
      if (sched_setaffinity(0, sizeof(set), &set) != 0) return "can't narrow the affinity";
      publish_usable_cpus(header);
      return "";
    });
    return child.report();
  }
};

BOOST_FIXTURE_TEST_SUITE(cpus_of_a_job, OneSegment)

BOOST_AUTO_TEST_CASE(are_at_least_one) {
  BOOST_TEST(usable_cpus(header) == 1);
}

BOOST_AUTO_TEST_CASE(are_those_of_the_affinity_within_the_quota) {
  publish_usable_cpus(header);
  BOOST_TEST(usable_cpus(header) == with_quota(own_cpus().size()));
  publish_usable_cpus(header);
  BOOST_TEST(usable_cpus(header) == with_quota(own_cpus().size()));
}

BOOST_AUTO_TEST_CASE(are_one_where_all_ranks_are_bound_to_the_same) {
  const int cpu = own_cpus().back();
  BOOST_TEST(publish_from(cpu) == "");
  BOOST_TEST(publish_from(cpu) == "");
  BOOST_TEST(usable_cpus(header) == 1);
}

BOOST_AUTO_TEST_CASE(add_up_over_ranks_that_are_bound_apart) {
  const std::vector<int> cpus = own_cpus();
  if (cpus.size() < 2) {
    BOOST_TEST_MESSAGE("skipped: there is only one CPU");
    return;
  }
  BOOST_TEST(publish_from(cpus[0]) == "");
  BOOST_TEST(publish_from(cpus[1]) == "");
  BOOST_TEST(usable_cpus(header) == with_quota(2));
}

BOOST_AUTO_TEST_CASE(never_exceed_the_quota_of_the_cgroup) {
  for (auto& word : header.usable_cpus) {
    // Relaxed: as publish_usable_cpus() does.
    word.store(~std::uint64_t{0}, std::memory_order_relaxed);
  }
  BOOST_TEST(usable_cpus(header) == with_quota(1024));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::sync
