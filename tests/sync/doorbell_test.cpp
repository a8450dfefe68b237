#include "lib/sync/doorbell.h"

#include "lib/shm/segment.h"
#include "lib/sync/futex.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <memory>

namespace tensorplay::sync {
namespace {

constexpr std::chrono::hours kLong{1};

struct FourRanks {
  std::shared_ptr<shm::Segment> segment = shm::Segment::create_anonymous({.world_size = 4});

  shm::Doorbell& doorbell(int rank) { return segment->rank_block(rank).doorbell; }
  // Relaxed, here and below: one thread does everything.
  std::uint32_t rings(int rank) { return doorbell(rank).rings.load(std::memory_order_relaxed); }
  std::uint32_t sleepers() {
    return segment->header().sleeper_count.load(std::memory_order_relaxed);
  }
  std::uint32_t joined_sleepers() {
    // Relaxed: see above.
    return segment->header().joined_sleeper_count.load(std::memory_order_relaxed);
  }
};

std::uint32_t waiting_for(int rank) {
  return static_cast<std::uint32_t>(rank) + 1;
}

BOOST_FIXTURE_TEST_SUITE(doorbell_of_a_rank, FourRanks)

BOOST_AUTO_TEST_CASE(does_not_ring_while_nobody_sleeps) {
  ring_for(*segment, 1);
  ring_all(*segment);
  for (int rank = 0; rank < 4; ++rank) BOOST_TEST(rings(rank) == 0U);
}

BOOST_AUTO_TEST_CASE(rings_for_the_rank_waited_for_and_no_other) {
  Sleep sleep(*segment, 0, waiting_for(2));
  ring_for(*segment, 1);
  ring_for(*segment, 3);
  BOOST_TEST(rings(0) == 0U);
  ring_for(*segment, 2);
  BOOST_TEST(rings(0) == 1U);
  // Returns at once: there was a ring since the sleep was begun.
  sleep.sleep(kLong);
}

BOOST_AUTO_TEST_CASE(rings_for_any_rank_where_any_is_waited_for) {
  for (int publisher = 1; publisher < 4; ++publisher) {
    Sleep sleep(*segment, 0, shm::kAnyRank);
    ring_for(*segment, publisher);
    BOOST_TEST(rings(0) == static_cast<std::uint32_t>(publisher));
    sleep.sleep(kLong);
  }
}

BOOST_AUTO_TEST_CASE(reaches_everyone_who_waits_for_the_same_rank) {
  Sleep first(*segment, 0, waiting_for(3));
  Sleep second(*segment, 1, waiting_for(3));
  Sleep third(*segment, 2, waiting_for(0));
  ring_for(*segment, 3);
  BOOST_TEST(rings(0) == 1U);
  BOOST_TEST(rings(1) == 1U);
  BOOST_TEST(rings(2) == 0U);
}

BOOST_AUTO_TEST_CASE(lets_joined_ranks_sleep_until_everyone_is_rung) {
  Sleep joined(*segment, 0, shm::kAllJoined);
  BOOST_TEST(joined_sleepers() == 1U);
  BOOST_TEST(sleepers() == 0U);
  Sleep active(*segment, 1, waiting_for(2));
  ring_for(*segment, 2);
  BOOST_TEST(rings(0) == 0U);
  ring_all(*segment);
  BOOST_TEST(rings(0) == 1U);
  joined.sleep(kLong);
}

BOOST_AUTO_TEST_CASE(counts_sleepers_only_while_they_sleep) {
  {
    Sleep sleep(*segment, 0, waiting_for(1));
    Sleep other(*segment, 1, shm::kAnyRank);
    BOOST_TEST(sleepers() == 2U);
  }
  BOOST_TEST(sleepers() == 0U);
  ring_all(*segment);
  BOOST_TEST(rings(0) == 0U);
}

BOOST_AUTO_TEST_CASE(does_not_end_a_sleep_begun_after_the_ring) {
  {
    Sleep sleep(*segment, 0, waiting_for(1));
    ring_for(*segment, 1);
  }
  Sleep sleep(*segment, 0, waiting_for(1));
  const auto start = std::chrono::steady_clock::now();
  const std::chrono::milliseconds slice(20);
  // A signal may end a sleep early; not ten in a row.
  for (int i = 0; i < 10; ++i) sleep.sleep(slice);
  BOOST_CHECK(std::chrono::steady_clock::now() - start >= slice);
}

BOOST_AUTO_TEST_CASE(a_word_that_has_changed_is_not_slept_on) {
  futex_wait(doorbell(0).rings, 7, kLong);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::sync
