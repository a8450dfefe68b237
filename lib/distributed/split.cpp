// Dividing a group.
#include "lib/base/fault_point.h"
#include "lib/distributed/group_engine.h"
#include "lib/distributed/group_slots.h"
#include "lib/distributed/posted_call.h"
#include "lib/sync/arrival.h"
#include "lib/sync/liveness.h"

#include <tensorplay/distributed/process_group.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
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

// The ranks, in the parent, of the group with this color, in the order of the new ranks: the first
// one is its leader.
std::vector<int> members_of(std::vector<Choice> choices, int color) {
  std::erase_if(choices, [color](const Choice& choice) { return choice.color != color; });
  std::ranges::sort(choices, {}, [](const Choice& c) { return std::tuple(c.key, c.rank); });
  std::vector<int> members;
  for (const Choice& choice : choices) members.push_back(choice.rank);
  return members;
}

// Of all the new groups.
std::vector<int> leaders_of(std::vector<Choice> choices) {
  std::ranges::sort(choices, {},
                    [](const Choice& c) { return std::tuple(c.color, c.key, c.rank); });
  std::vector<int> leaders;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const bool is_first = i == 0 || choices[i - 1].color != choices[i].color;
    if (is_first) leaders.push_back(choices[i].rank);
  }
  return leaders;
}

// While leaders tell their slots by the next operation. At its end, also by an exception, those are
// free again that were never told: their leaders were gone before they had posted it.
class SlotsToTell {
 public:
  // `own_slot`: the one that this rank has to tell; less than 0 if it has none.
  SlotsToTell(const GroupEngine& parent, std::vector<int> leaders, int own_slot)
      : parent_(parent.memory()),
        telling_(parent.next_number()),
        leaders_(std::move(leaders)),
        own_slot_(own_slot) {}
  ~SlotsToTell() {
    if (own_slot_ >= 0 && has_told(parent_.self())) use_group_slot(parent_.segment(), own_slot_);
    for (const int leader : leaders_) {
      // Its end first: what it had posted before is seen then.
      if (!has_ended(leader) || has_told(leader)) continue;
      reclaim_untold_slot(parent_.segment(), parent_.slot(), parent_.world_rank(leader));
    }
  }
  SlotsToTell(const SlotsToTell&) = delete;
  SlotsToTell& operator=(const SlotsToTell&) = delete;

 private:
  bool has_told(int leader) const { return last_posted(parent_.member(leader)) >= telling_; }
  // Of this rank itself: it has ended telling.
  bool has_ended(int leader) const {
    return leader == parent_.self() ||
           sync::observe_departure(parent_.member(leader)) != shm::Departure::none ||
           sync::has_ended(sync::vitality(parent_.segment(), parent_.world_rank(leader)));
  }

  const collectives::GroupMemory& parent_;
  std::uint64_t telling_;
  std::vector<int> leaders_;
  int own_slot_;
};

// This rank's part in the new group's slot: given up unless it's kept.
class SlotShare {
 public:
  SlotShare(shm::Segment& segment, int slot, int self)
      : segment_(segment), slot_(slot), self_(self) {}
  ~SlotShare() {
    if (!kept_) leave_group_slot(segment_, slot_, self_);
  }
  SlotShare(const SlotShare&) = delete;
  SlotShare& operator=(const SlotShare&) = delete;

  void keep() noexcept { kept_ = true; }

 private:
  shm::Segment& segment_;
  int slot_;
  int self_;
  bool kept_ = false;
};

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
  const std::vector<Choice> choices =
      gather_choices(parent, engine_->membership().lost, color, key);
  const std::vector<int> members = members_of(choices, color);
  std::vector<int> world_ranks;
  for (int member : members) world_ranks.push_back(engine_->memory().world_rank(member));
  shm::Segment& segment = *engine_->job().segment();

  std::string own_reason;
  int own_slot = kNoSlot;
  try {
    if (members.front() == rank())
      own_slot = take_group_slot(segment, engine_->memory().slot(), world_ranks);
  } catch (const SegmentError& error) {
    own_slot = kNoMemory;
    own_reason = error.what();
  }
  const std::optional<int> slot = [&] {
    const SlotsToTell to_tell(*engine_, leaders_of(choices), own_slot);
    fault_point("split.before_telling_slot");
    return agree_on_slot(parent, members.front(), own_slot);
  }();
  Outcome outcome = outcome_of(segment, slot, world_ranks);
  const auto self = static_cast<int>(std::ranges::find(members, rank()) - members.begin());
  std::optional<SlotShare> share;
  if (outcome == Outcome::ready) share.emplace(segment, *slot, self);
  try {
    if (share) reserve_member(segment, *slot, self);
  } catch (const SegmentError& error) {
    outcome = Outcome::no_memory;
    own_reason = error.what();
  }
  fault_point("split.member_reserved");
  outcome = worst(parent, outcome);
  if (outcome != Outcome::ready) {
    share.reset();
    // All survivors know, and begin anew without it.
    if (outcome == Outcome::no_leader) return split(color, key);
    throw SegmentError("split: " + reason_of(outcome, own_reason));
  }
  fault_point("split.agreed");
  auto part =
      std::make_shared<GroupEngine>(engine_->shared_job(), *slot, self, std::move(world_ranks));
  share->keep();
  return ProcessGroup(std::move(part));
}

}  // namespace tensorplay::distributed
