#include "lib/shm/segment.h"
#include "tests/shm/child_process.h"

#include <unistd.h>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <memory>
#include <string>
#include <thread>

namespace tensorplay::shm {
namespace {

using testing::ChildProcess;

struct Place {
  std::string name = "tensorplay-test-process-lock-" + std::to_string(getpid());
  std::shared_ptr<Segment> segment = Segment::create_named(name, {.world_size = 2});

  Place() { segment->publish(); }
  ~Place() { segment->unlink_name(); }

  // What another process, which is no child that would have inherited anything by then, is told.
  bool others_see_lock(int rank) const {
    ChildProcess other(
        [&]() -> std::string { return segment->is_rank_locked(rank) ? "yes" : "no"; });
    return other.report() == "yes";
  }
};

BOOST_FIXTURE_TEST_SUITE(process_lock, Place)

BOOST_AUTO_TEST_CASE(is_taken_once_also_within_a_process) {
  BOOST_TEST(!segment->is_rank_locked(1));
  BOOST_TEST(segment->lock_rank(1));
  BOOST_TEST(!segment->lock_rank(1));
  BOOST_TEST(segment->map_again()->is_rank_locked(1));
  BOOST_TEST(!segment->is_rank_locked(0));
  segment->unlock_rank(1);
  BOOST_TEST(!segment->is_rank_locked(1));
  BOOST_TEST(segment->lock_rank(1));
  segment->unlock_rank(1);
}

BOOST_AUTO_TEST_CASE(keeps_other_processes_out_and_shows_itself_to_them) {
  BOOST_TEST(segment->lock_rank(0));
  ChildProcess other([this]() -> std::string {
    if (segment->lock_rank(0)) return "took what its parent has";
    return segment->lock_rank(1) ? "" : "didn't get what is free";
  });
  BOOST_TEST(other.report() == "");
  BOOST_TEST(others_see_lock(0));
  BOOST_TEST(!others_see_lock(1));
  segment->unlock_rank(0);
  BOOST_TEST(!others_see_lock(0));
}

BOOST_AUTO_TEST_CASE(outlives_the_thread_that_took_it) {
  std::thread([this] { segment->lock_rank(0); }).join();
  BOOST_TEST(others_see_lock(0));
  segment->unlock_rank(0);
}

BOOST_AUTO_TEST_CASE(ends_with_its_process_but_not_with_that_of_a_forked_child) {
  ChildProcess owner([this]() -> std::string {
    segment->lock_rank(0);
    ChildProcess copy([this]() -> std::string {
      segment->unlock_rank(0);
      segment.reset();
      return "";
    });
    copy.report();
    const bool kept = others_see_lock(0);
    if (fork() == 0) {
      sleep(3);  // has its parent's descriptors and mapping, and outlives it
      _exit(0);
    }
    _exit(kept ? 0 : 1);
  });
  BOOST_TEST(owner.reap() == 0);
  BOOST_TEST(!segment->is_rank_locked(0));
}

// Closing any descriptor of a file ends its process's locks on it: it must be put off.
BOOST_AUTO_TEST_CASE(outlives_other_descriptors_of_the_same_file) {
  BOOST_TEST(segment->lock_rank(0));
  for (int i = 0; i < 3; ++i) BOOST_TEST(Segment::open_named(name) != nullptr);
  BOOST_TEST(others_see_lock(0));
  const auto other = Segment::open_named(name);
  BOOST_TEST(other->lock_rank(1));
  segment->unlock_rank(0);
  BOOST_TEST(!others_see_lock(0));
  BOOST_TEST(others_see_lock(1));
  other->unlock_rank(1);
}

BOOST_AUTO_TEST_CASE(lets_no_descriptor_stay_open_in_the_end) {
  const auto next_descriptor = [] {
    const int descriptor = dup(STDOUT_FILENO);
    close(descriptor);
    return descriptor;
  };
  const int before = next_descriptor();
  segment->lock_rank(0);
  for (int i = 0; i < 3; ++i) Segment::open_named(name);
  BOOST_TEST(next_descriptor() == before + 3);
  segment->unlock_rank(0);
  BOOST_TEST(next_descriptor() == before);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::shm
