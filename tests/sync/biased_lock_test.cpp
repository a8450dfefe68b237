// Two threads are never inside, whether the lock is biased, just losing its bias, or without it.

#include "lib/sync/biased_lock.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

namespace tensorplay::sync {
namespace {

using Entry = BiasedLock::Entry;

Entry entry_of_another_thread(BiasedLock& lock) {
  Entry entry{};
  std::thread([&] {
    entry = lock.try_enter();
    if (entry == Entry::entered) lock.leave();
  }).join();
  return entry;
}

// What the lock guards: `count` by plain accesses, for the thread sanitizer.
struct Guarded {
  BiasedLock lock;
  std::atomic<int> inside{0};
  std::atomic<bool> two_inside{false};
  std::uint64_t count = 0;
};

// Whether it got in.
bool enter_once(Guarded& guarded) {
  if (guarded.lock.try_enter() != Entry::entered) return false;
  // Relaxed: a fence here could hide what the lock lacks.
  if (guarded.inside.fetch_add(1, std::memory_order_relaxed) != 0) guarded.two_inside = true;
  ++guarded.count;
  guarded.inside.fetch_sub(1, std::memory_order_relaxed);
  guarded.lock.leave();
  return true;
}

// Some time between none and that of two line transfers, another one each time.
void dawdle(std::uint32_t round) {
  // Volatile, lest the loop be left out.
  for (volatile std::uint32_t left = round % 97; left > 0;) left = left - 1;
}

// Polls, as the two are to come at the same moment; and gives the CPU away where they share one.
void await(const std::atomic<std::uint32_t>& word, std::uint32_t value) {
  // Acquire: pairs with the release of the other thread's stores.
  for (std::uint32_t polls = 1; word.load(std::memory_order_acquire) < value; ++polls) {
    if (polls % 4096 == 0) std::this_thread::yield();
  }
}

// Maker and stranger come at about the same moment, with a new lock in each round; in how many both
// got in.
int meetings_inside(std::uint32_t rounds) {
  std::vector<BiasedLock> locks(rounds);
  std::vector<int> entered_by_stranger(rounds, 0);
  std::atomic<std::uint32_t> begun{0};
  std::atomic<std::uint32_t> ready{0};
  std::thread stranger([&] {
    for (std::uint32_t round = 0; round < rounds; ++round) {
      // Release: pairs with await().
      ready.store(round + 1, std::memory_order_release);
      await(begun, round + 1);
      if (locks[round].try_enter() == Entry::entered) entered_by_stranger[round] = 1;
    }
  });
  std::vector<int> entered(rounds, 0);
  for (std::uint32_t round = 0; round < rounds; ++round) {
    await(ready, round + 1);
    // Release: pairs with await().
    begun.store(round + 1, std::memory_order_release);
    dawdle(round);
    if (locks[round].try_enter() == Entry::entered) entered[round] = 1;
  }
  stranger.join();
  int meetings = 0;
  // Nobody has left: so at most one may have entered.
  for (std::uint32_t round = 0; round < rounds; ++round) {
    meetings += entered[round] + entered_by_stranger[round] > 1 ? 1 : 0;
  }
  return meetings;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(biased_lock)

BOOST_AUTO_TEST_CASE(its_maker_enters_again_and_again) {
  BiasedLock lock;
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST((lock.try_enter() == Entry::entered));
    lock.leave();
  }
}

BOOST_AUTO_TEST_CASE(its_maker_may_enter_below_itself) {
  BiasedLock lock;
  BOOST_TEST((lock.try_enter() == Entry::entered));
  BOOST_TEST((lock.try_enter() == Entry::nested));
  BOOST_TEST((entry_of_another_thread(lock) == Entry::busy));
  lock.leave();
  BOOST_TEST((entry_of_another_thread(lock) == Entry::entered));
}

BOOST_AUTO_TEST_CASE(another_thread_enters_when_its_maker_has_left) {
  BiasedLock lock;
  BOOST_TEST((lock.try_enter() == Entry::entered));
  lock.leave();
  BOOST_TEST((entry_of_another_thread(lock) == Entry::entered));
}

BOOST_AUTO_TEST_CASE(another_thread_may_enter_below_itself) {
  BiasedLock lock;
  std::vector<Entry> entries;
  std::thread([&] {
    entries.push_back(lock.try_enter());
    entries.push_back(lock.try_enter());
    lock.leave();
  }).join();
  BOOST_TEST((entries == std::vector{Entry::entered, Entry::nested}));
}

BOOST_AUTO_TEST_CASE(its_maker_finds_it_busy_while_another_thread_is_inside) {
  BiasedLock lock;
  std::latch inside{1};
  std::latch looked{1};
  std::thread stranger([&] {
    if (lock.try_enter() != Entry::entered) return inside.count_down();
    inside.count_down();
    looked.wait();
    lock.leave();
  });
  inside.wait();
  BOOST_TEST((lock.try_enter() == Entry::busy));
  looked.count_down();
  stranger.join();
  BOOST_TEST((lock.try_enter() == Entry::entered));
  BOOST_TEST((lock.try_enter() == Entry::nested));
  BOOST_TEST((entry_of_another_thread(lock) == Entry::busy));
  lock.leave();
}

BOOST_AUTO_TEST_CASE(a_maker_inside_when_the_bias_ends_is_still_known_to_be_inside) {
  BiasedLock lock;
  BOOST_TEST((lock.try_enter() == Entry::entered));
  BOOST_TEST((entry_of_another_thread(lock) == Entry::busy));
  BOOST_TEST((lock.try_enter() == Entry::nested));
  BOOST_TEST((entry_of_another_thread(lock) == Entry::busy));
  lock.leave();
  BOOST_TEST((lock.try_enter() == Entry::entered));
  lock.leave();
  BOOST_TEST((entry_of_another_thread(lock) == Entry::entered));
}

// Without the fence that the stranger makes others execute, this finds both inside.
BOOST_AUTO_TEST_CASE(of_two_that_come_at_the_same_moment_at_most_one_enters) {
  BOOST_TEST(meetings_inside(100'000) == 0);
}

BOOST_AUTO_TEST_CASE(threads_that_try_without_end_are_inside_one_at_a_time) {
  auto guarded = std::make_unique<Guarded>();
  constexpr int kStrangers = 3;
  constexpr int kEntries = 20'000;
  std::vector<std::thread> strangers;
  const auto enter_often = [&] {
    for (int entries = 0; entries < kEntries;) {
      if (enter_once(*guarded)) {
        ++entries;
      } else {
        std::this_thread::yield();
      }
    }
  };
  for (int i = 0; i < kStrangers; ++i) strangers.emplace_back(enter_often);
  enter_often();
  for (std::thread& stranger : strangers) stranger.join();
  BOOST_TEST(!guarded->two_inside);
  BOOST_TEST(guarded->count == std::uint64_t{kStrangers + 1} * kEntries);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tensorplay::sync
