#include "lib/shm/layout.h"

#include <tensorplay/error.h>

#include <boost/test/unit_test.hpp>
#include <string>
#include <utility>
#include <vector>

namespace tensorplay::shm {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// Begin and end of every part, in the order of the picture in layout.h.
std::vector<std::pair<std::size_t, std::size_t>> parts_of(const Geometry& g) {
  std::vector<std::pair<std::size_t, std::size_t>> parts;
  const auto add = [&parts](std::size_t begin, std::size_t bytes) {
    parts.emplace_back(begin, begin + bytes);
  };
  const auto ranks = static_cast<std::size_t>(g.world_size);
  add(0, sizeof(SegmentHeader));
  add(g.rank_blocks_offset, ranks * sizeof(RankBlock));
  // The slots between lie as far apart as these.
  for (const std::size_t slot : {0, 1, kGroupCountMax - 1}) {
    const std::size_t group = g.groups_offset + slot * g.group_bytes;
    add(group, sizeof(GroupHeader));
    for (std::size_t i = 0; i < ranks; ++i) {
      add(group + g.members_offset + i * g.member_bytes, sizeof(MemberBlock));
    }
    add(group + g.staging_offset, ranks * kStagingBytes);
  }
  add(g.arenas_offset, ranks * g.arena_bytes);
  return parts;
}

BOOST_AUTO_TEST_SUITE(geometry)

BOOST_AUTO_TEST_CASE(parts_never_overlap_and_begin_on_pages_for_any_number_of_ranks) {
  for (int ranks = 1; ranks <= kRankCountMax; ++ranks) {
    for (const std::size_t arena : {std::size_t{0}, std::size_t{1}, 3 * kMiB}) {
      const Geometry g = Geometry::of(ranks, arena);
      std::size_t end = 0;
      for (const auto& [part_begin, part_end] : parts_of(g)) {
        if (part_begin < end || part_begin % kPageBytes != 0) {
          BOOST_ERROR("a part at " << part_begin << " after " << end << " for " << ranks
                                   << " ranks");
        }
        end = part_end;
      }
      BOOST_REQUIRE_EQUAL(g.segment_bytes, end);
    }
  }
}

BOOST_AUTO_TEST_CASE(segments_grow_with_ranks_and_arenas) {
  for (int ranks = 2; ranks <= kRankCountMax; ++ranks) {
    BOOST_REQUIRE_GT(Geometry::of(ranks, 0).segment_bytes,
                     Geometry::of(ranks - 1, 0).segment_bytes);
  }
  BOOST_TEST(Geometry::of(3, kMiB).segment_bytes == Geometry::of(3, 0).segment_bytes + 3 * kMiB);
}

BOOST_AUTO_TEST_CASE(arenas_are_rounded_up_to_whole_pages) {
  BOOST_TEST(Geometry::of(2, 0).arena_bytes == 0U);
  BOOST_TEST(Geometry::of(2, 1).arena_bytes == kPageBytes);
  BOOST_TEST(Geometry::of(2, kPageBytes).arena_bytes == kPageBytes);
  BOOST_TEST(Geometry::of(2, kPageBytes + 1).arena_bytes == 2 * kPageBytes);
  BOOST_CHECK(Geometry::of(2, 1) == Geometry::of(2, kPageBytes));
}

BOOST_AUTO_TEST_CASE(eight_ranks_start_with_at_most_16_mib) {
  const Geometry g = Geometry::of(8, 64 * kMiB);
  const std::size_t at_start =
      g.groups_offset + g.members_offset + 8 * g.member_bytes + 8 * kStagingBytes;
  BOOST_TEST(at_start <= 16 * kMiB);
}

BOOST_AUTO_TEST_CASE(the_largest_segment_fits_the_address_space) {
  const Geometry g = Geometry::of(kRankCountMax, kMiB << 20);
  BOOST_TEST(g.segment_bytes > g.arenas_offset);
  // 2^48: a job of the most ranks with the largest arenas can't be mapped, but its sizes are right.
  BOOST_TEST(g.segment_bytes - g.arenas_offset == kRankCountMax * (kMiB << 20));
}

BOOST_AUTO_TEST_CASE(a_number_of_ranks_out_of_range_is_refused_with_the_range) {
  for (const int ranks : {-1, 0, kRankCountMax + 1}) {
    BOOST_CHECK_EXCEPTION(Geometry::of(ranks, 0), InvalidArgument, [ranks](const auto& error) {
      const std::string text = error.what();
      return text.find(std::to_string(ranks) + " ranks") != std::string::npos &&
             text.find("1 to 256") != std::string::npos;
    });
  }
}

BOOST_AUTO_TEST_CASE(an_arena_beyond_the_limit_is_refused_with_the_limit) {
  const std::size_t limit = kMiB << 20;
  BOOST_CHECK_NO_THROW(Geometry::of(1, limit));
  for (const std::size_t arena : {limit + 1, ~std::size_t{0}}) {
    BOOST_CHECK_EXCEPTION(Geometry::of(1, arena), InvalidArgument, [=](const auto& error) {
      const std::string text = error.what();
      return text.find(std::to_string(arena)) != std::string::npos &&
             text.find(std::to_string(limit)) != std::string::npos;
    });
  }
}

BOOST_AUTO_TEST_CASE(words_of_different_ranks_share_no_pair_of_cache_lines) {
  static_assert(sizeof(RankBlock) % kSeparationBytes == 0);
  static_assert(alignof(MemberBlock) % kSeparationBytes == 0);
  static_assert(offsetof(RankBlock, life) % kSeparationBytes == 0);
  static_assert(offsetof(MemberBlock, progress) % kSeparationBytes == 0);
  static_assert(sizeof(SegmentHeader) <= kPageBytes, "openers look at one page");
  BOOST_TEST(Geometry::of(2, 0).member_bytes % kPageBytes == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::shm
