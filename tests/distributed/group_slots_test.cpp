// Groups whose members die give their part of the segment back.

#include "lib/distributed/group_slots.h"
#include "lib/distributed/group_engine.h"
#include "tests/worlds/worlds.h"

#include <tensorplay/distributed/process_group.h>
#include <tensorplay/error.h>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace tensorplay::distributed {
namespace {

// The slots in use, once they are these, or after some seconds.
std::uint64_t slots_in_use(const shm::Segment& segment, std::uint64_t expected) {
  std::uint64_t slots = 0;
  for (int i = 0; i < 10'000; ++i) {
    // Relaxed: nothing is read through it.
    slots = segment.header().group_slots.load(std::memory_order_relaxed);
    if (slots == expected) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return slots;
}

std::string lose_a_member(ProcessGroup& group) {
  const shm::Segment& segment = *group.engine().job().segment();
  std::optional<ProcessGroup> part = group.split(0, 0);
  if (slots_in_use(segment, 3) != 3) return "the group has no slot";
  part->barrier();
  if (group.rank() == 2) raise(SIGKILL);
  try {
    part->barrier();
    return "nobody died";
  } catch (const PeerFailure&) {
    part.reset();
  }
  const std::uint64_t slots = slots_in_use(segment, 1);
  return slots == 1 ? "" : "the slots in use are " + std::to_string(slots);
}

// Damage in the group's own memory is found before anybody uses it.
std::string agree_with_header(ProcessGroup& group) {
  shm::Segment& segment = *group.engine().job().segment();
  const std::vector<int> ranks{0, 2};
  const int slot = take_group_slot(segment, ranks);
  shm::GroupHeader& header = segment.group_header(slot);
  if (!is_slot_of(segment, slot, ranks)) return "it isn't what was taken";
  if (is_slot_of(segment, slot, {0, 1}) || is_slot_of(segment, slot, {0})) return "others have it";
  if (is_slot_of(segment, 0, ranks) || is_slot_of(segment, 64, ranks)) return "no such slot";
  if (is_slot_of(segment, slot + 1, ranks)) return "a free slot is somebody's";
  header.member_count = 0xffffffff;
  if (is_slot_of(segment, slot, ranks)) return "so many members are believed";
  leave_group_slot(segment, slot, 0);  // counts no members beyond the job's
  return "";
}

BOOST_AUTO_TEST_SUITE(group_slots)

BOOST_AUTO_TEST_CASE(a_dead_member_s_place_is_given_back_by_the_last_to_leave) {
  const worlds::WorldResult result = run_world(worlds::World::forked_processes, 3, lose_a_member);
  for (const int rank : {0, 1}) {
    BOOST_TEST(result.ranks[static_cast<std::size_t>(rank)].fine(), result.findings());
  }
}

BOOST_AUTO_TEST_CASE(a_slot_tells_whose_it_is) {
  const worlds::WorldResult result =
      run_world(worlds::World::forked_processes, 1, agree_with_header);
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::distributed
