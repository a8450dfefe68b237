// Groups whose members die give their part of the segment back.

#include "lib/distributed/group_slots.h"
#include "lib/base/fault_point.h"
#include "lib/distributed/group_engine.h"
#include "tests/worlds/worlds.h"

#include <tensorplay/distributed/process_group.h>
#include <tensorplay/error.h>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace tensorplay::distributed {
namespace {

// How many slots aren't free, once they are so many, or after some seconds.
std::ptrdiff_t slots_in_use(const shm::Segment& segment, std::ptrdiff_t expected) {
  std::ptrdiff_t slots = 0;
  for (int i = 0; i < 10'000; ++i) {
    slots = std::ranges::count_if(segment.header().group_slots, [](const auto& slot) {
      // Relaxed: nothing is read through it.
      return slot.load(std::memory_order_relaxed) != 0;
    });
    if (slots == expected) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return slots;
}

struct Moment {
  std::string_view point;
  int pass = 1;
};

void die_at(Moment moment) {
  static Moment awaited;
  awaited = moment;
  fault_handler = [](const char* name) {
    if (name == awaited.point && --awaited.pass == 0) raise(SIGKILL);
  };
}

// Rank 0 leads, and dies there. Then the slots in use are as many as groups exist.
std::string lose_the_leader(ProcessGroup& group, Moment moment, PeerFailurePolicy policy) {
  if (group.rank() == 0) die_at(moment);
  std::optional<ProcessGroup> part;
  try {
    part = group.split(0, 0);
  } catch (const PeerFailure&) {
    if (policy != PeerFailurePolicy::raise) throw;
  }
  const std::ptrdiff_t expected = policy == PeerFailurePolicy::raise ? 0 : 1;
  const std::ptrdiff_t slots = slots_in_use(*group.engine().job().segment(), expected);
  if (part) part->barrier();
  return slots == expected ? "" : std::to_string(slots) + " slots are in use";
}

// Rank 0 is to be alone in its part: nobody waits there for its slot.
std::string lose_a_lone_leader(ProcessGroup& group) {
  if (group.rank() == 0) die_at({"group_slot.taken"});
  const ProcessGroup part = group.split(group.rank(), 0);
  const std::ptrdiff_t slots = slots_in_use(*group.engine().job().segment(), 2);
  group.barrier();
  return slots == 2 ? "" : std::to_string(slots) + " slots are in use";
}

void expect_fine(const worlds::WorldResult& result, const std::vector<std::size_t>& ranks) {
  for (const std::size_t rank : ranks) BOOST_TEST(result.ranks[rank].fine(), result.findings());
}

std::string lose_a_member(ProcessGroup& group) {
  const shm::Segment& segment = *group.engine().job().segment();
  std::optional<ProcessGroup> part = group.split(0, 0);
  if (slots_in_use(segment, 1) != 1) return "the group has no slot";
  part->barrier();
  if (group.rank() == 2) raise(SIGKILL);
  try {
    part->barrier();
    return "nobody died";
  } catch (const PeerFailure&) {
    part.reset();
  }
  const std::ptrdiff_t slots = slots_in_use(segment, 0);
  return slots == 0 ? "" : std::to_string(slots) + " slots are in use";
}

// Damage in the group's own memory is found before anybody uses it.
std::string agree_with_header(ProcessGroup& group) {
  shm::Segment& segment = *group.engine().job().segment();
  const std::vector<int> ranks{0, 2};
  const int slot = take_group_slot(segment, kWorldSlot, ranks);
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
  expect_fine(run_world(worlds::World::forked_processes, 3, lose_a_member), {0, 1});
}

BOOST_DATA_TEST_CASE(a_slot_that_a_dead_leader_has_told_nobody_is_free_again,
                     boost::unit_test::data::make({false, true}), survives) {
  const auto policy = survives ? PeerFailurePolicy::continue_without : PeerFailurePolicy::raise;
  // The second arrival is that which would tell the slot.
  for (const Moment moment : {Moment{"group_slot.taken"}, Moment{"split.before_telling_slot"},
                              Moment{"arrival.before_published", 2}}) {
    const auto result =
        run_world(worlds::World::forked_processes, 3,
                  [&](ProcessGroup& group) { return lose_the_leader(group, moment, policy); },
                  {.on_peer_failure = policy});
    BOOST_TEST_CONTEXT(moment.point) {
      BOOST_TEST(result.ranks[0].signal == SIGKILL);
      expect_fine(result, {1, 2});
    }
  }
}

BOOST_AUTO_TEST_CASE(a_slot_for_which_nobody_waits_is_free_again_too) {
  const auto result = run_world(worlds::World::forked_processes, 3, lose_a_lone_leader,
                                {.on_peer_failure = PeerFailurePolicy::continue_without});
  BOOST_TEST(result.ranks[0].signal == SIGKILL);
  expect_fine(result, {1, 2});
}

BOOST_AUTO_TEST_CASE(a_slot_tells_whose_it_is) {
  const worlds::WorldResult result =
      run_world(worlds::World::forked_processes, 1, agree_with_header);
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::distributed
