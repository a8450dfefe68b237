// When a staging buffer may be filled again.

#include "lib/collectives/staging_lease.h"
#include "lib/shm/segment.h"
#include "lib/sync/progress.h"

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cstdint>
#include <memory>

namespace tensorplay::collectives {
namespace {

// Rank 0's lease in a group of three.
struct ThreeRanks {
  std::shared_ptr<shm::Segment> segment =
      shm::Segment::create_anonymous({.world_size = 3, .arena_bytes = 0});
  GroupMemory memory{segment, 0, 0, {0, 1, 2}};
  StagingLease lease;

  void tell_consumed(int member, std::uint64_t value) {
    // Relaxed: one thread.
    memory.member(member).progress.consumed.store(value, std::memory_order_relaxed);
  }
  static MemberSet both() {
    MemberSet others;
    others.insert(1);
    others.insert(2);
    return others;
  }
};

BOOST_AUTO_TEST_SUITE(staging_lease)

BOOST_AUTO_TEST_CASE(a_buffer_that_was_never_used_is_free) {
  ThreeRanks ranks;
  BOOST_TEST(ranks.lease.is_free(ranks.memory, 0));
  BOOST_TEST(!ranks.lease.is_held_by(ranks.memory, 0, 1));
}

BOOST_AUTO_TEST_CASE(a_buffer_is_free_once_all_its_readers_are_through) {
  ThreeRanks ranks;
  ranks.lease.take(7, 100, ThreeRanks::both());
  BOOST_TEST(!ranks.lease.is_free(ranks.memory, 7));
  ranks.tell_consumed(1, 100);
  BOOST_TEST(!ranks.lease.is_free(ranks.memory, 7));
  BOOST_TEST(!ranks.lease.is_held_by(ranks.memory, 7, 1));
  BOOST_TEST(ranks.lease.is_held_by(ranks.memory, 7, 2));
  ranks.tell_consumed(2, 101);
  BOOST_TEST(ranks.lease.is_free(ranks.memory, 7));
}

BOOST_AUTO_TEST_CASE(the_other_buffers_are_free_meanwhile) {
  ThreeRanks ranks;
  ranks.lease.take(7, 100, ThreeRanks::both());
  for (std::uint64_t slot = 8; slot < 7 + shm::kStagingBuffers; ++slot) {
    BOOST_TEST(ranks.lease.is_free(ranks.memory, slot));
  }
  BOOST_TEST(!ranks.lease.is_free(ranks.memory, 7 + shm::kStagingBuffers));
}

BOOST_AUTO_TEST_CASE(a_reader_once_seen_to_be_through_is_not_looked_at_again) {
  ThreeRanks ranks;
  ranks.lease.take(0, 100, ThreeRanks::both());
  ranks.lease.take(1, 60, ThreeRanks::both());
  ranks.tell_consumed(1, 100);
  ranks.tell_consumed(2, 100);
  BOOST_TEST(ranks.lease.is_free(ranks.memory, 0));
  ranks.tell_consumed(1, 0);
  BOOST_TEST(ranks.lease.is_free(ranks.memory, 1));
}

BOOST_AUTO_TEST_CASE(a_buffer_without_readers_is_free) {
  ThreeRanks ranks;
  ranks.lease.take(3, 100, ThreeRanks::both());
  ranks.lease.take(3, 200, {});
  BOOST_TEST(ranks.lease.is_free(ranks.memory, 3));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::collectives
