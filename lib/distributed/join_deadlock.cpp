#include "lib/distributed/join_deadlock.h"

#include "lib/distributed/group_engine.h"
#include "lib/distributed/whereabouts.h"
#include "lib/sync/activity.h"
#include "lib/sync/arrival.h"
#include "lib/sync/doorbell.h"
#include "lib/sync/join_board.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace tensorplay::distributed {
namespace {

// What a rank tells of its doing comes in several words, a moment apart. Later they belong
// together.
constexpr std::chrono::nanoseconds kSettled = std::chrono::milliseconds(20);

// The member of the group that has this rank in the job; -1 if there is none.
int member_of(const GroupEngine& group, int world_rank) {
  for (int m = 0; m < group.size(); ++m) {
    if (group.memory().world_rank(m) == world_rank) return m;
  }
  return -1;
}

std::uint64_t last_joined(const shm::MemberBlock& member) {
  return std::max(sync::joined_generation(member.boards[0]),
                  sync::joined_generation(member.boards[1]));
}

// Asleep until all have joined, and without anything under way in other groups.
bool sleeps_as_joined(const shm::Segment& segment, int world_rank, int slot) {
  const sync::ActivityReading reading =
      sync::read_activity(segment.rank_block(world_rank).activity);
  const std::int64_t since = sync::nanoseconds_of(CLOCK_MONOTONIC) - reading.since_ns;
  return reading.waiting.doing == shm::Doing::joined && reading.waiting.slot == slot &&
         since > kSettled.count() && sync::sleeps_for(segment, world_rank) == shm::kAllJoined;
}

// Whether the member sleeps until this rank, among others, has joined in `group`. It can't wake
// meanwhile but by a failure: for the context to end this rank would have to join.
bool sleeps_for_own_join(const GroupEngine& group, int member) {
  const auto& memory = group.memory();
  if (!sleeps_as_joined(memory.segment(), memory.world_rank(member), memory.slot())) return false;
  // Who has given up the group isn't waited for.
  return sync::observe_departure(memory.own()) == shm::Departure::none &&
         last_joined(memory.own()) < last_joined(memory.member(member)) && !group.failed();
}

}  // namespace

std::optional<std::string> describe_join_deadlock(GroupEngine& waiting, int member) {
  const int world_rank = waiting.memory().world_rank(member);
  for (const GroupEngine* group : waiting.job().groups()) {
    const int joined = group == &waiting ? -1 : member_of(*group, world_rank);
    if (joined < 0 || !sleeps_for_own_join(*group, joined)) continue;
    return rank_label(waiting.memory(), member) + " has joined a Join context of another group (" +
           std::to_string(group->size()) + " ranks) and sleeps until all of its ranks have, but " +
           rank_label(waiting.memory(), waiting.rank()) + " hasn't joined there";
  }
  return std::nullopt;
}

}  // namespace tensorplay::distributed
