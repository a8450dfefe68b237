#include "lib/inspect/group_view.h"

#include "lib/sync/join_board.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>

namespace tensorplay::inspect {
namespace {

using collectives::GroupMemory;

// The ranks of the job that a split has put into the slot; nothing if that can't be right.
std::optional<std::vector<int>> told_members(const shm::Segment& copy, int slot) {
  const shm::GroupHeader& header = copy.group_header(slot);
  const std::uint32_t count = header.member_count;
  if (count == 0 || count > static_cast<std::uint32_t>(copy.world_size())) return std::nullopt;
  std::vector<int> ranks(header.world_ranks.begin(), header.world_ranks.begin() + count);
  const bool sound = std::ranges::all_of(ranks, [&](int rank) { return rank < copy.world_size(); });
  return sound ? std::optional(std::move(ranks)) : std::nullopt;
}

}  // namespace

std::vector<GroupMemory> groups_of(const std::shared_ptr<shm::Segment>& copy) {
  std::vector<int> all(static_cast<std::size_t>(copy->world_size()));
  std::iota(all.begin(), all.end(), 0);
  std::vector<GroupMemory> groups;
  groups.emplace_back(copy, 0, 0, std::move(all));
  for (int slot = 1; slot < shm::kGroupCountMax; ++slot) {
    const auto& mark = copy->header().group_slots[static_cast<std::size_t>(slot)];
    // Relaxed: a copy.
    if (mark.load(std::memory_order_relaxed) != shm::kSlotInUse) continue;
    if (auto ranks = told_members(*copy, slot))
      groups.emplace_back(copy, slot, 0, std::move(*ranks));
  }
  return groups;
}

int member_of(const GroupMemory& group, int rank) noexcept {
  for (int member = 0; member < group.size(); ++member) {
    if (group.world_rank(member) == rank) return member;
  }
  return -1;
}

std::uint64_t current_context(const GroupMemory& group) noexcept {
  // The boards tell as much of a generation as their words have room for.
  std::uint64_t latest = 0;
  for (int member = 0; member < group.size(); ++member) {
    for (const shm::JoinBoard& board : group.member(member).boards) {
      // Relaxed: a copy.
      const std::uint64_t announced = board.announced.load(std::memory_order_relaxed);
      latest = std::max(latest, announced >> shm::kIterationBits);
    }
  }
  if (latest == 0) return 0;
  for (int member = 0; member < group.size(); ++member) {
    if (!sync::read_board(sync::board_of(group.member(member), latest), latest).joined) {
      return latest;
    }
  }
  return 0;
}

}  // namespace tensorplay::inspect
