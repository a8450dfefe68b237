#include "lib/shm/segment.h"
#include "tests/shm/child_process.h"
#include "tests/shm/job_place.h"

#include <sys/file.h>
#include <sys/syscall.h>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace {

// Called once, before the next lock is taken: what another process might do at that moment.
std::function<void()> before_next_lock;

}  // namespace

// Stands before the one of the C library.
extern "C" int flock(int file, int operation) noexcept {
  if ((operation & LOCK_EX) != 0 && before_next_lock) {
    std::exchange(before_next_lock, nullptr)();
  }
  return static_cast<int>(syscall(SYS_flock, file, operation));
}

namespace tensorplay::shm {
namespace {

constexpr SegmentOptions kOptions{.world_size = 2, .arena_bytes = 64 * 1024};

// Creates a segment and ends without having published it.
std::string die_before_publishing(const std::string& name) {
  const auto segment = Segment::create_named(name, kOptions);
  if (segment == nullptr) return "the name is taken";
  raise(SIGKILL);
  return "still alive";
}

BOOST_AUTO_TEST_SUITE(named_segment)

BOOST_AUTO_TEST_CASE(the_name_tells_user_and_job) {
  BOOST_TEST(Segment::name_of("job") == "tensorplay-" + std::to_string(geteuid()) + "-job");
}

BOOST_AUTO_TEST_CASE(nobody_finds_what_nobody_made) {
  const JobPlace place;
  BOOST_CHECK(Segment::open_named(place.name()) == nullptr);
  BOOST_TEST(!place.taken());
}

BOOST_AUTO_TEST_CASE(a_published_segment_is_found_and_shared) {
  const JobPlace place;
  const auto made = Segment::create_named(place.name(), kOptions);
  BOOST_REQUIRE(made != nullptr);
  made->publish();
  const auto found = Segment::open_named(place.name());
  BOOST_REQUIRE(found != nullptr);
  BOOST_CHECK(found->geometry() == made->geometry());
  made->arena(1)[5] = std::byte{42};
  BOOST_CHECK(found->arena(1)[5] == std::byte{42});
}

BOOST_AUTO_TEST_CASE(a_segment_is_its_owners_alone) {
  const JobPlace place;
  const auto made = Segment::create_named(place.name(), kOptions);
  struct stat status {};
  BOOST_REQUIRE(stat(place.path().c_str(), &status) == 0);
  BOOST_TEST((status.st_mode & 0777U) == 0600U);
  BOOST_TEST(status.st_uid == geteuid());
}

BOOST_AUTO_TEST_CASE(making_takes_memory_for_the_control_blocks_only) {
  const JobPlace place;
  const auto made = Segment::create_named(place.name(), {.world_size = 8, .arena_bytes = 1 << 30});
  BOOST_REQUIRE(made != nullptr);
  BOOST_TEST(place.bytes_taken() == made->geometry().groups_offset);
  made->reserve(made->staging(0, 3), "staging");
  BOOST_TEST(place.bytes_taken() == made->geometry().groups_offset + kStagingBytes);
  made->release(made->staging(0, 3));
  BOOST_TEST(place.bytes_taken() == made->geometry().groups_offset);
}

BOOST_AUTO_TEST_CASE(a_second_maker_gets_nothing) {
  const JobPlace place;
  const auto made = Segment::create_named(place.name(), kOptions);
  BOOST_CHECK(Segment::create_named(place.name(), kOptions) == nullptr);
  made->publish();
  BOOST_CHECK(Segment::create_named(place.name(), kOptions) == nullptr);
  BOOST_CHECK(Segment::open_named(place.name()) != nullptr);
}

BOOST_AUTO_TEST_CASE(nobody_finds_a_segment_before_it_is_published) {
  const JobPlace place;
  const auto made = Segment::create_named(place.name(), kOptions);
  BOOST_CHECK(Segment::open_named(place.name()) == nullptr);
  BOOST_TEST(place.taken());
  testing::ChildProcess other([&]() -> std::string {
    return Segment::open_named(place.name()) == nullptr ? "" : "found it";
  });
  BOOST_TEST(other.report() == "");
  BOOST_TEST(place.taken());
  made->publish();
  BOOST_CHECK(Segment::open_named(place.name()) != nullptr);
}

BOOST_AUTO_TEST_CASE(a_file_that_its_dead_maker_never_published_is_removed) {
  const JobPlace place;
  testing::ChildProcess maker([&] { return die_before_publishing(place.name()); });
  BOOST_TEST(maker.report() == "ended by signal 9");
  BOOST_REQUIRE(place.taken());
  BOOST_CHECK(Segment::open_named(place.name()) == nullptr);
  BOOST_TEST(!place.taken());
  BOOST_CHECK(Segment::create_named(place.name(), kOptions) != nullptr);
}

BOOST_AUTO_TEST_CASE(an_empty_file_of_a_dead_maker_is_removed) {
  const JobPlace place;
  place.put("", 0);
  BOOST_CHECK(Segment::open_named(place.name()) == nullptr);
  BOOST_TEST(!place.taken());
}

BOOST_AUTO_TEST_CASE(a_segment_without_its_name_stays_usable) {
  const JobPlace place;
  const auto made = Segment::create_named(place.name(), kOptions);
  made->publish();
  const auto found = Segment::open_named(place.name());
  BOOST_TEST(found->unlink_name());
  BOOST_TEST(!place.taken());
  made->arena(0)[0] = std::byte{1};
  BOOST_CHECK(found->arena(0)[0] == std::byte{1});
}

BOOST_AUTO_TEST_CASE(removing_the_name_twice_leaves_a_successor_alone) {
  const JobPlace place;
  const auto first = Segment::create_named(place.name(), kOptions);
  first->publish();
  const auto found = Segment::open_named(place.name());
  BOOST_TEST(first->unlink_name());
  BOOST_TEST(first->unlink_name());
  const auto second = Segment::create_named(place.name(), kOptions);
  BOOST_REQUIRE(second != nullptr);
  second->publish();
  BOOST_TEST(first->unlink_name());
  BOOST_TEST(found->unlink_name());
  BOOST_TEST(place.taken());
  BOOST_TEST(second->unlink_name());
  BOOST_TEST(!place.taken());
}

BOOST_AUTO_TEST_CASE(the_name_can_not_be_removed_while_somebody_else_is_at_it) {
  const JobPlace place;
  const auto made = Segment::create_named(place.name(), kOptions);
  made->publish();
  const auto found = Segment::open_named(place.name());
  const int other = shm_open(place.name().c_str(), O_RDWR | O_CLOEXEC, 0);
  BOOST_REQUIRE(flock(other, LOCK_EX | LOCK_NB) == 0);
  BOOST_TEST(!found->unlink_name());
  BOOST_TEST(place.taken());
  close(other);
  BOOST_TEST(found->unlink_name());
  BOOST_TEST(!place.taken());
}

BOOST_AUTO_TEST_CASE(an_opener_never_removes_a_segment_that_is_just_being_published) {
  const JobPlace place;
  const auto made = Segment::create_named(place.name(), kOptions);
  before_next_lock = [&] { made->publish(); };
  BOOST_CHECK(Segment::open_named(place.name()) != nullptr);
  BOOST_TEST(place.taken());
}

BOOST_AUTO_TEST_CASE(a_maker_whose_file_was_taken_for_a_leftover_makes_nothing) {
  const JobPlace place;
  bool found = false;
  before_next_lock = [&] { found = Segment::open_named(place.name()) != nullptr; };
  BOOST_CHECK(Segment::create_named(place.name(), kOptions) == nullptr);
  BOOST_TEST(!found);
  BOOST_TEST(!place.taken());
}

BOOST_AUTO_TEST_CASE(a_maker_that_meets_an_opener_at_the_lock_makes_nothing) {
  const JobPlace place;
  int opener = -1;
  before_next_lock = [&] {
    opener = shm_open(place.name().c_str(), O_RDWR | O_CLOEXEC, 0);
    flock(opener, LOCK_EX | LOCK_NB);
  };
  BOOST_CHECK(Segment::create_named(place.name(), kOptions) == nullptr);
  close(opener);
  BOOST_CHECK(Segment::open_named(place.name()) == nullptr);
  BOOST_TEST(!place.taken());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::shm
