#include "lib/shm/segment.h"

#include "tests/shm/child_process.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <memory>
#include <set>

namespace tensorplay::shm {
namespace {

constexpr std::size_t kArenaBytes = 4 * kPageBytes;

std::shared_ptr<Segment> make(int ranks = 3) {
  return Segment::create_anonymous({.world_size = ranks, .arena_bytes = kArenaBytes});
}

bool all_are(std::span<const std::byte> bytes, int value) {
  return std::ranges::all_of(bytes, [=](std::byte byte) { return byte == std::byte(value); });
}

void fill(std::span<std::byte> bytes, int value) {
  std::ranges::fill(bytes, std::byte(value));
}

BOOST_AUTO_TEST_SUITE(anonymous_segment)

BOOST_AUTO_TEST_CASE(is_ready_as_soon_as_it_is_made) {
  const auto segment = make();
  const SegmentHeader& header = segment->header();
  // Relaxed: nobody else has the segment.
  BOOST_CHECK(header.state.load(std::memory_order_relaxed) == SegmentState::ready);
  BOOST_TEST(header.magic == kMagic);
  BOOST_TEST(header.layout_version == kLayoutVersion);
  BOOST_TEST(header.world_size == 3U);
  BOOST_TEST(header.arena_bytes == kArenaBytes);
  BOOST_TEST(header.segment_bytes == segment->geometry().segment_bytes);
  BOOST_TEST(header.owner_uid == geteuid());
  BOOST_TEST(segment->world_size() == 3);
}

BOOST_AUTO_TEST_CASE(fresh_memory_is_zero) {
  const auto segment = make();
  for (int rank = 0; rank < 3; ++rank) {
    BOOST_TEST(all_are(std::as_bytes(std::span(&segment->rank_block(rank), 1)), 0));
    BOOST_TEST(all_are(std::as_bytes(std::span(&segment->member_block(5, rank), 1)), 0));
    BOOST_TEST(all_are(segment->arena(rank), 0));
    BOOST_TEST(all_are(segment->staging(kGroupCountMax - 1, rank), 0));
  }
}

BOOST_AUTO_TEST_CASE(parts_lie_where_the_geometry_says) {
  const auto segment = make();
  const Geometry& g = segment->geometry();
  BOOST_TEST(segment->offset_of(&segment->rank_block(2)) ==
             g.rank_blocks_offset + 2 * sizeof(RankBlock));
  BOOST_TEST(segment->offset_of(&segment->group_header(63)) ==
             g.groups_offset + 63 * g.group_bytes);
  BOOST_TEST(segment->offset_of(&segment->member_block(1, 2)) ==
             g.groups_offset + g.group_bytes + g.members_offset + 2 * g.member_bytes);
  BOOST_TEST(segment->offset_of(segment->staging(1, 2).data()) ==
             g.groups_offset + g.group_bytes + g.staging_offset + 2 * kStagingBytes);
  BOOST_TEST(segment->offset_of(segment->arena(2).data()) == g.arenas_offset + 2 * kArenaBytes);
  BOOST_TEST(segment->staging(0, 0).size() == kStagingBytes);
  BOOST_TEST(segment->arena(0).size() == kArenaBytes);
  BOOST_TEST(segment->group_memory(3).size() == g.group_bytes);
  BOOST_TEST(segment->group_memory(3).data() ==
             reinterpret_cast<std::byte*>(&segment->group_header(3)));
}

BOOST_AUTO_TEST_CASE(an_offset_names_the_same_place_as_its_address) {
  const auto segment = make();
  std::byte* place = segment->arena(1).data() + 17;
  BOOST_TEST(segment->at(segment->offset_of(place)) == place);
}

BOOST_AUTO_TEST_CASE(an_address_outside_has_no_offset) {
  const auto segment = make();
  const std::byte* begin = segment->at(0);
  const int elsewhere = 0;
  BOOST_TEST(segment->offset_of(&elsewhere) == 0U);
  BOOST_TEST(segment->offset_of(nullptr) == 0U);
  BOOST_TEST(segment->offset_of(begin - 1) == 0U);
  BOOST_TEST(segment->offset_of(begin + segment->geometry().segment_bytes) == 0U);
  BOOST_TEST(segment->offset_of(begin + segment->geometry().segment_bytes - 1) != 0U);
}

BOOST_AUTO_TEST_CASE(a_second_mapping_shows_the_same_bytes_at_another_address) {
  auto segment = make();
  const auto again = segment->map_again();
  BOOST_TEST(again->arena(0).data() != segment->arena(0).data());
  BOOST_CHECK(again->geometry() == segment->geometry());
  fill(segment->arena(1), 7);
  BOOST_TEST(all_are(again->arena(1), 7));
  fill(again->staging(2, 1), 9);
  BOOST_TEST(all_are(segment->staging(2, 1), 9));
  segment.reset();
  BOOST_TEST(all_are(again->arena(1), 7));
}

BOOST_AUTO_TEST_CASE(two_segments_share_nothing) {
  const auto one = make();
  const auto other = make();
  fill(one->arena(0), 1);
  BOOST_TEST(all_are(other->arena(0), 0));
}

BOOST_AUTO_TEST_CASE(a_forked_child_shares_the_memory) {
  const auto segment = make();
  fill(segment->arena(0), 1);
  testing::ChildProcess child([&]() -> std::string {
    if (!all_are(segment->arena(0), 1)) return "the child doesn't see what its parent wrote";
    fill(segment->arena(1), 2);
    return "";
  });
  BOOST_TEST(child.report() == "");
  BOOST_TEST(all_are(segment->arena(1), 2));
}

BOOST_AUTO_TEST_CASE(reserved_memory_keeps_its_content) {
  const auto segment = make();
  fill(segment->arena(0).first(10), 3);
  segment->reserve(segment->arena(0), "an arena");
  segment->reserve({}, "nothing");
  BOOST_TEST(all_are(segment->arena(0).first(10), 3));
  BOOST_TEST(all_are(segment->arena(0).subspan(10), 0));
}

BOOST_AUTO_TEST_CASE(released_pages_read_as_zero_for_everyone) {
  const auto segment = make();
  const auto again = segment->map_again();
  fill(segment->arena(1), 5);
  segment->release(segment->arena(1));
  BOOST_TEST(all_are(segment->arena(1), 0));
  BOOST_TEST(all_are(again->arena(1), 0));
  fill(segment->arena(1), 6);
  BOOST_TEST(all_are(again->arena(1), 6));
}

BOOST_AUTO_TEST_CASE(only_whole_pages_are_released) {
  const auto segment = make();
  const std::span<std::byte> arena = segment->arena(1);
  fill(segment->arena(0), 4);
  fill(arena, 5);
  fill(segment->arena(2), 4);
  segment->release(arena.subspan(1, 2 * kPageBytes));
  BOOST_TEST(all_are(arena.first(kPageBytes), 5));
  BOOST_TEST(all_are(arena.subspan(kPageBytes, kPageBytes), 0));
  BOOST_TEST(all_are(arena.subspan(2 * kPageBytes), 5));
  segment->release(arena.subspan(2 * kPageBytes + 1, kPageBytes));
  segment->release({});
  BOOST_TEST(all_are(arena.subspan(2 * kPageBytes), 5));
  BOOST_TEST(all_are(segment->arena(0), 4));
  BOOST_TEST(all_are(segment->arena(2), 4));
}

BOOST_AUTO_TEST_CASE(has_no_name_to_remove) {
  const auto segment = make();
  BOOST_TEST(segment->unlink_name());
  BOOST_TEST(segment->unlink_name());
}

BOOST_AUTO_TEST_CASE(an_empty_arena_is_fine) {
  const auto segment = Segment::create_anonymous({.world_size = 1, .arena_bytes = 0});
  BOOST_TEST(segment->arena(0).empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::shm
