#include "lib/shm/layout.h"

#include <tensorplay/error.h>

#include <string>

namespace tensorplay::shm {
namespace {

// Far above any machine's memory, far below an overflow of the sums: address space has 47 bits.
constexpr std::size_t kArenaBytesMax = std::size_t{1} << 40;

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

Geometry Geometry::of(int world_size, std::size_t arena_bytes) {
  if (world_size < 1 || world_size > kRankCountMax) {
    throw InvalidArgument("a group of " + std::to_string(world_size) +
                          " ranks can't be made: the number of ranks must be 1 to " +
                          std::to_string(kRankCountMax));
  }
  if (arena_bytes > kArenaBytesMax) {
    throw InvalidArgument("arena_bytes is " + std::to_string(arena_bytes) + ", over the limit of " +
                          std::to_string(kArenaBytesMax) + " per rank: ask for less");
  }
  const auto ranks = static_cast<std::size_t>(world_size);
  Geometry g;
  g.world_size = world_size;
  g.arena_bytes = round_up(arena_bytes, kPageBytes);
  g.rank_blocks_offset = round_up(sizeof(SegmentHeader), kPageBytes);
  g.groups_offset = round_up(g.rank_blocks_offset + ranks * sizeof(RankBlock), kPageBytes);
  g.members_offset = round_up(sizeof(GroupHeader), kPageBytes);
  g.member_bytes = round_up(sizeof(MemberBlock), kPageBytes);
  g.staging_offset = g.members_offset + ranks * g.member_bytes;
  g.group_bytes = g.staging_offset + ranks * kStagingBytes;
  g.arenas_offset = g.groups_offset + kGroupCountMax * g.group_bytes;
  g.segment_bytes = g.arenas_offset + ranks * g.arena_bytes;
  return g;
}

}  // namespace tensorplay::shm
