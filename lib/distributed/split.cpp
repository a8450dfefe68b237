// Dividing a group.
#include "lib/base/fault_point.h"
#include "lib/distributed/group_engine.h"
#include "lib/distributed/group_slots.h"

#include <tensorplay/distributed/process_group.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace tensorplay::distributed {
namespace {

// What a rank passes to split().
struct Choice {
  int rank;
  int color;
  int key;
};

// Of the ranks that aren't dead: `lost` are those that take part in nothing any more.
std::vector<Choice> gather_choices(ProcessGroup& parent, const Contributors& lost, int color,
                                   int key) {
  const std::array<std::int32_t, 2> own{color, key};
  std::vector<std::int32_t> all(2 * static_cast<std::size_t>(parent.size()));
  const Contributors present = parent.all_gather(std::span(own), std::span(all));
  Contributors accounted_for = present;
  lost.for_each([&](int rank) { accounted_for.insert(rank); });
  if (accounted_for.count() != parent.size()) {
    throw InvalidArgument("split: only " + to_string(present) + " of " +
                          std::to_string(parent.size()) +
                          " ranks called it; call it outside of Join contexts, or before a rank "
                          "joins");
  }
  std::vector<Choice> choices;
  present.for_each([&](int r) {
    const auto i = 2 * static_cast<std::size_t>(r);
    choices.push_back({r, all[i], all[i + 1]});
  });
  return choices;
}

// The ranks, in the parent, of the group with this color, in the order of the new ranks.
std::vector<int> members_of(std::vector<Choice> choices, int color) {
  std::erase_if(choices, [color](const Choice& choice) { return choice.color != color; });
  std::ranges::sort(choices, {}, [](const Choice& c) { return std::tuple(c.key, c.rank); });
  std::vector<int> members;
  for (const Choice& choice : choices) members.push_back(choice.rank);
  return members;
}

// Tells everybody its leader's slot, nothing if the leader has died; the exchange also orders the
// leader's writes before the members' reads.
std::optional<int> agree_on_slot(ProcessGroup& parent, int leader, int own_slot) {
  const std::int32_t own = own_slot;
  std::vector<std::int32_t> slots(static_cast<std::size_t>(parent.size()));
  const Contributors present = parent.all_gather(std::span(&own, 1), std::span(slots));
  if (!present.contains(leader)) return std::nullopt;
  return slots[static_cast<std::size_t>(leader)];
}

// How far a rank has got; the worst first.
enum class Outcome : std::uint8_t { no_leader, no_slot, no_memory, damaged, ready };

// What a leader tells instead of a slot.
constexpr int kNoSlot = -1;
constexpr int kNoMemory = -2;

Outcome outcome_of(const shm::Segment& segment, std::optional<int> slot,
                   const std::vector<int>& world_ranks) {
  if (!slot) return Outcome::no_leader;
  if (*slot == kNoSlot) return Outcome::no_slot;
  if (*slot == kNoMemory) return Outcome::no_memory;
  return is_slot_of(segment, *slot, world_ranks) ? Outcome::ready : Outcome::damaged;
}

// The worst outcome of all ranks.
Outcome worst(ProcessGroup& parent, Outcome own) {
  auto value = static_cast<std::uint8_t>(own);
  parent.all_reduce(std::span(&value, 1), ReduceOp::min);
  return static_cast<Outcome>(value);
}

std::string reason_of(Outcome outcome, const std::string& own_reason) {
  switch (outcome) {
    case Outcome::no_slot:
      return "no further group fits into the segment: at most " +
             std::to_string(shm::kGroupCountMax - 1) +
             " may exist beside the first; give up those that are no longer needed";
    case Outcome::damaged:
      return "the memory of the new group tells other members: the segment is damaged";
    default:
      return own_reason.empty() ? "another rank has no shared memory left for it" : own_reason;
  }
}

}  // namespace

ProcessGroup ProcessGroup::split(int color, int key) {
  ProcessGroup parent = as_part_of(CallPurpose::split);
  const std::vector<int> members =
      members_of(gather_choices(parent, engine_->membership().lost, color, key), color);
  std::vector<int> world_ranks;
  for (int member : members) world_ranks.push_back(engine_->memory().world_rank(member));
  shm::Segment& segment = *engine_->job().segment();

  std::string own_reason;
  int own_slot = kNoSlot;
  try {
    if (members.front() == rank()) own_slot = take_group_slot(segment, world_ranks);
  } catch (const SegmentError& error) {
    own_slot = kNoMemory;
    own_reason = error.what();
  }
  fault_point("split.before_telling_slot");
  const std::optional<int> slot = agree_on_slot(parent, members.front(), own_slot);
  Outcome outcome = outcome_of(segment, slot, world_ranks);
  const bool has_slot = outcome == Outcome::ready;
  const auto self = static_cast<int>(std::ranges::find(members, rank()) - members.begin());
  try {
    if (has_slot) reserve_member(segment, *slot, self);
  } catch (const SegmentError& error) {
    outcome = Outcome::no_memory;
    own_reason = error.what();
  }
  fault_point("split.member_reserved");
  outcome = worst(parent, outcome);
  if (outcome != Outcome::ready) {
    if (has_slot) leave_group_slot(segment, *slot, self);
    // All survivors know, and begin anew without it.
    if (outcome == Outcome::no_leader) return split(color, key);
    throw SegmentError("split: " + reason_of(outcome, own_reason));
  }
  fault_point("split.agreed");
  return ProcessGroup(
      std::make_shared<GroupEngine>(engine_->shared_job(), *slot, self, std::move(world_ranks)));
}

}  // namespace tensorplay::distributed
