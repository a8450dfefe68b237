#include "lib/sync/waiter.h"

#include "lib/shm/segment.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <memory>
#include <stdexcept>

namespace tensorplay::sync {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMoreThanCpus = shm::kRankCountMax + 1;

// Comes true at a moment; nobody rings for it.
class Moment : public Condition {
 public:
  explicit Moment(std::chrono::milliseconds after) : at_(Clock::now() + after) {}
  bool poll() override {
    ++polls;
    return Clock::now() >= at_;
  }
  void check(Clock::time_point now) override {
    ++checks;
    if (checks == fail_at) throw std::runtime_error("can't come true any more");
    last_check = now;
  }
  std::uint32_t sleeping_for() const override { return 2; }
  std::chrono::nanoseconds slice() const override { return own_slice; }

  int polls = 0;
  int checks = 0;
  int fail_at = 0;
  Clock::time_point last_check;
  std::chrono::nanoseconds own_slice = std::chrono::milliseconds(5);

 private:
  Clock::time_point at_;
};

class DefaultSlice : public Condition {
 public:
  bool poll() override { return true; }
  void check(Clock::time_point) override { throw std::logic_error("nothing to check"); }
  std::uint32_t sleeping_for() const override { return 2; }
};

struct TwoRanks {
  std::shared_ptr<shm::Segment> segment = shm::Segment::create_anonymous({.world_size = 2});
  Waiter waiter{*segment, 0};

  // Relaxed: one thread does everything.
  bool anybody_sleeps() {
    return segment->header().sleeper_count.load(std::memory_order_relaxed) != 0 ||
           segment->rank_block(0).doorbell.sleeping_for.load(std::memory_order_relaxed) != 0;
  }
};

BOOST_FIXTURE_TEST_SUITE(waiter_of_a_rank, TwoRanks)

BOOST_AUTO_TEST_CASE(returns_at_once_when_there_is_nothing_to_wait_for) {
  Moment moment(std::chrono::milliseconds(0));
  waiter.wait(moment, 1);
  BOOST_TEST(moment.polls == 1);
  BOOST_TEST(moment.checks == 0);
}

BOOST_AUTO_TEST_CASE(looks_again_after_each_slice_though_nobody_rings) {
  for (const int competitors : {1, kMoreThanCpus}) {
    Moment moment(std::chrono::milliseconds(60));
    waiter.wait(moment, competitors);
    BOOST_TEST(moment.checks >= 1);
    BOOST_TEST(moment.poll());
    BOOST_TEST(!anybody_sleeps());
  }
}

BOOST_AUTO_TEST_CASE(sleeps_no_longer_than_a_slice) {
  Moment moment(std::chrono::milliseconds(100));
  moment.own_slice = std::chrono::hours(1);
  // Rings that come too early: the sleep is cut short all the same by the second of them.
  moment.own_slice = std::chrono::milliseconds(1);
  waiter.wait(moment, kMoreThanCpus);
  // 100 slices at most fit; on a busy machine few of them do.
  BOOST_TEST(moment.checks >= 1);
  BOOST_TEST(moment.checks <= 110);
}

BOOST_AUTO_TEST_CASE(sleeps_instead_of_polling_where_cpus_are_few) {
  Moment moment(std::chrono::milliseconds(200));
  moment.own_slice = std::chrono::milliseconds(50);
  waiter.wait(moment, kMoreThanCpus);
  // Each of at most 5 rounds polls some 40 times.
  BOOST_TEST(moment.polls < 1000);
}

BOOST_AUTO_TEST_CASE(passes_on_what_the_check_throws) {
  for (const int fail_at : {1, 3}) {
    Moment moment(std::chrono::hours(1));
    moment.fail_at = fail_at;
    BOOST_CHECK_THROW(waiter.wait(moment, kMoreThanCpus), std::runtime_error);
    BOOST_TEST(moment.checks == fail_at);
    BOOST_TEST(!anybody_sleeps());
  }
}

BOOST_AUTO_TEST_CASE(tells_the_check_what_time_it_is) {
  const auto start = Clock::now();
  Moment moment(std::chrono::milliseconds(20));
  waiter.wait(moment, kMoreThanCpus);
  BOOST_CHECK(moment.last_check >= start);
  BOOST_CHECK(moment.last_check <= Clock::now());
}

BOOST_AUTO_TEST_CASE(a_slice_is_fifty_milliseconds_unless_said_otherwise) {
  DefaultSlice condition;
  BOOST_CHECK(condition.slice() == std::chrono::milliseconds(50));
  waiter.wait(condition, 1);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::sync
