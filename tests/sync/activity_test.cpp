// What a rank's words tell of what it is doing.
#include "lib/sync/activity.h"
#include "lib/shm/segment.h"
#include "lib/sync/waiter.h"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace tensorplay::sync {
namespace {

using distributed::CallPurpose;
using distributed::CollectiveKind;

struct OneRank {
  std::shared_ptr<shm::Segment> segment = shm::Segment::create_anonymous({.world_size = 1});
  shm::Activity& activity = segment->rank_block(0).activity;
};

const Waiting kWaiting{shm::Doing::operation, 63, CollectiveKind::all_to_all,
                       CallPurpose::gradients, (std::uint64_t{1} << 44) - 1};

BOOST_FIXTURE_TEST_SUITE(activity_words, OneRank)

BOOST_AUTO_TEST_CASE(a_word_holds_all_that_is_waited_for) {
  BOOST_CHECK(unpacked(packed(kWaiting)) == kWaiting);
  BOOST_CHECK(unpacked(packed({})) == Waiting{});
  BOOST_TEST(packed({}) == 0U);
}

BOOST_AUTO_TEST_CASE(fresh_memory_tells_of_user_code_and_no_call) {
  const ActivityReading reading = read_activity(activity);
  BOOST_CHECK(reading.waiting == Waiting{});
  BOOST_TEST(reading.since_ns == 0);
}

BOOST_AUTO_TEST_CASE(a_mark_tells_of_its_wait_and_then_of_user_code) {
  const std::int64_t before = nanoseconds_of(CLOCK_MONOTONIC);
  std::int64_t waiting_since = 0;
  {
    const WaitingMark mark(activity, kWaiting);
    const ActivityReading reading = read_activity(activity);
    BOOST_CHECK(reading.waiting == kWaiting);
    waiting_since = reading.since_ns;
    BOOST_TEST(waiting_since >= before);
  }
  const ActivityReading reading = read_activity(activity);
  BOOST_CHECK(reading.waiting == Waiting{});
  BOOST_TEST(reading.since_ns >= waiting_since);
}

BOOST_AUTO_TEST_CASE(user_code_counts_from_the_last_call_but_a_wait_from_its_begin) {
  activity.since_ns = 1;
  publish_call(activity);
  const std::int64_t called = read_activity(activity).since_ns;
  BOOST_TEST(called > 1);
  BOOST_TEST(called <= nanoseconds_of(CLOCK_MONOTONIC));
  publish_waiting(activity, kWaiting);
  activity.since_ns = 2;
  BOOST_TEST(read_activity(activity).since_ns == 2);
}

// Sees what the rank's words tell while it waits.
class Watched final : public Condition {
 public:
  Watched(shm::Activity& activity, int polls) : activity_(activity), polls_(polls) {}
  bool poll() override { return polls_-- <= 0; }
  void check(std::chrono::steady_clock::time_point) override {
    seen_.push_back(read_activity(activity_));
    polls_ = 0;
  }
  std::uint32_t sleeping_for() const override { return shm::kAnyRank; }
  Waiting waiting_for() const override { return kWaiting; }
  const std::vector<ActivityReading>& seen() const { return seen_; }

 private:
  shm::Activity& activity_;
  int polls_;
  std::vector<ActivityReading> seen_;
};

BOOST_AUTO_TEST_CASE(a_wait_that_outlasts_its_spinning_is_told) {
  Watched condition(activity, 1'000'000'000);
  Waiter(*segment, 0).wait(condition, 1);
  BOOST_REQUIRE(condition.seen().size() == 1U);
  BOOST_CHECK(condition.seen().front().waiting == kWaiting);
  BOOST_TEST(condition.seen().front().since_ns > 0);
  BOOST_CHECK(read_activity(activity).waiting == Waiting{});
}

BOOST_AUTO_TEST_CASE(a_wait_that_ends_at_once_is_not) {
  Watched condition(activity, 3);
  Waiter(*segment, 0).wait(condition, 1);
  BOOST_TEST(condition.seen().empty());
  BOOST_TEST(read_activity(activity).since_ns == 0);
}

BOOST_AUTO_TEST_CASE(completions_are_told_per_group) {
  BOOST_TEST(completed_number(segment->member_block(0, 0)) == 0U);
  publish_completed(segment->member_block(0, 0), 41);
  BOOST_TEST(completed_number(segment->member_block(0, 0)) == 41U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::sync
