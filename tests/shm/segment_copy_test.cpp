// A viewer's copy of a segment: it tells what the segment does, and leaves it alone.

#include "lib/shm/segment.h"
#include "tests/shm/job_place.h"

#include <tensorplay/error.h>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

namespace tensorplay::shm {
namespace {

constexpr SegmentOptions kOptions{.world_size = 3, .arena_bytes = 64 * 1024};

std::shared_ptr<Segment> published(const JobPlace& place) {
  auto segment = Segment::create_named(place.name(), kOptions);
  segment->publish();
  return segment;
}

// Why no copy is taken; "" if one is.
std::string refusal(const std::string& path) {
  try {
    Segment::copy_of(path);
  } catch (const SegmentError& error) {
    return error.what();
  }
  return "";
}

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The file of this process's only anonymous segment.
std::string path_of_anonymous() {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    const auto target = std::filesystem::read_symlink(entry.path(), ignored).string();
    if (target.starts_with("/memfd:tensorplay")) return entry.path();
  }
  return "";
}

BOOST_AUTO_TEST_SUITE(segment_copy)

BOOST_AUTO_TEST_CASE(it_tells_what_the_segment_told_at_that_moment) {
  const JobPlace place;
  const auto segment = published(place);
  // Relaxed, all: one thread.
  segment->rank_block(2).activity.waiting.store(77, std::memory_order_relaxed);
  segment->member_block(0, 1).arrivals[3].number.store(19, std::memory_order_relaxed);
  segment->header().group_slots[5].store(kSlotInUse, std::memory_order_relaxed);
  segment->member_block(5, 0).completed.store(4, std::memory_order_relaxed);
  const auto copy = Segment::copy_of(place.path());
  // Relaxed: one thread.
  segment->rank_block(2).activity.waiting.store(78, std::memory_order_relaxed);
  BOOST_TEST(copy->world_size() == 3);
  BOOST_TEST((copy->geometry() == segment->geometry()));
  BOOST_TEST(copy->rank_block(2).activity.waiting.load() == 77u);
  BOOST_TEST(copy->member_block(0, 1).arrivals[3].number.load() == 19u);
  BOOST_TEST(copy->member_block(5, 0).completed.load() == 4u);
}

BOOST_AUTO_TEST_CASE(it_takes_no_memory_of_the_segment) {
  const JobPlace place;
  const auto segment = published(place);
  // Relaxed: one thread.
  segment->header().group_slots[7].store(kSlotInUse, std::memory_order_relaxed);
  const std::size_t before = place.bytes_taken();
  const auto copy = Segment::copy_of(place.path());
  BOOST_TEST(copy->member_block(7, 2).completed.load() == 0u);
  BOOST_TEST(place.bytes_taken() == before);
}

BOOST_AUTO_TEST_CASE(what_is_written_into_it_stays_there) {
  const JobPlace place;
  const auto segment = published(place);
  Segment::copy_of(place.path())->rank_block(0).activity.waiting.store(5);
  BOOST_TEST(segment->rank_block(0).activity.waiting.load() == 0u);
}

BOOST_AUTO_TEST_CASE(it_is_taken_of_anonymous_memory_too) {
  const auto segment = Segment::create_anonymous(kOptions);
  segment->rank_block(1).activity.waiting.store(9);
  const auto copy = Segment::copy_of(path_of_anonymous());
  BOOST_TEST(copy->rank_block(1).activity.waiting.load() == 9u);
}

BOOST_AUTO_TEST_CASE(it_tells_which_ranks_are_locked_now) {
  const JobPlace place;
  const auto segment = published(place);
  const auto copy = Segment::copy_of(place.path());
  BOOST_TEST(segment->lock_rank(1));
  BOOST_TEST(copy->is_rank_locked(1));
  BOOST_TEST(!copy->is_rank_locked(0));
  segment->unlock_rank(1);
  BOOST_TEST(!copy->is_rank_locked(1));
}

BOOST_AUTO_TEST_CASE(it_stays_when_the_file_is_cut_or_removed) {
  const JobPlace place;
  const auto segment = published(place);
  segment->rank_block(2).activity.waiting.store(77);
  const auto copy = Segment::copy_of(place.path());
  std::filesystem::resize_file(place.path(), 0);
  std::filesystem::remove(place.path());
  BOOST_TEST(copy->rank_block(2).activity.waiting.load() == 77u);
  BOOST_TEST(copy->world_size() == 3);
}

BOOST_AUTO_TEST_CASE(a_segment_that_is_being_made_is_refused) {
  const JobPlace place;
  const auto segment = Segment::create_named(place.name(), kOptions);
  BOOST_TEST(says(refusal(place.path()), "it is still being made; look again in a moment"));
}

BOOST_AUTO_TEST_CASE(what_is_no_segment_is_refused_with_its_path) {
  const JobPlace place;
  BOOST_TEST(says(refusal(place.path()), "can't look into " + place.path()));
  place.put("somebody's letters", 1 << 20);
  BOOST_TEST(says(refusal(place.path()), place.path() + " is refused: it isn't a segment"));
  BOOST_TEST(says(refusal("/dev/shm"), "/dev/shm is refused: it isn't a plain file"));
}

BOOST_AUTO_TEST_CASE(a_segment_of_another_version_or_size_is_refused) {
  const JobPlace place;
  const auto segment = published(place);
  segment->header().layout_version += 1;
  BOOST_TEST(says(refusal(place.path()), "its layout has version"));
  segment->header().layout_version -= 1;
  std::filesystem::resize_file(place.path(), 4096 * 8);
  BOOST_TEST(says(refusal(place.path()), "its size is 32768 bytes instead of"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::shm
