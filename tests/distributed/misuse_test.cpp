// What must not be done with a group is told, and harms nobody; and what only looks like it works.

#include "lib/shm/layout.h"
#include "tests/conformance/operation.h"
#include "tests/conformance/oracle.h"
#include "tests/worlds/world_test.h"

#include <tensorplay/error.h>

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace tensorplay::distributed {
namespace {

using worlds::Findings;
using worlds::run_world;

// A word that all ranks see, be they threads or processes.
class SharedFlag {
 public:
  SharedFlag()
      : word_(new (mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0)) std::atomic<int>(0)) {}
  ~SharedFlag() { munmap(word_, sizeof(std::atomic<int>)); }
  SharedFlag(const SharedFlag&) = delete;
  SharedFlag& operator=(const SharedFlag&) = delete;

  // Release: pairs with the acquire in wait().
  void raise() { word_->store(1, std::memory_order_release); }
  void wait() const {
    // Acquire: pairs with the release in raise().
    while (word_->load(std::memory_order_acquire) == 0) std::this_thread::yield();
  }

 private:
  std::atomic<int>* word_;
};

std::int64_t sum_of_ones(ProcessGroup& group) {
  std::int64_t one = 1;
  group.all_reduce(std::span(&one, 1));
  return one;
}

// Waits in another thread; how often it was told that it isn't alone. Two calls that meet may each
// be the one that is told.
std::thread wait_in_thread(Work& work, std::atomic<int>& refusals) {
  return std::thread([&] {
    for (;;) {
      try {
        work.wait();
        return;
      } catch (const InvalidArgument&) {
        // Relaxed: read after the thread has been joined.
        refusals.fetch_add(1, std::memory_order_relaxed);
      }
    }
  });
}

// Uses the group until it is told that another thread does; that text.
std::string disturb(ProcessGroup& group) {
  for (;;) {
    try {
      group.allocate<float>(0);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    std::this_thread::yield();
  }
}

BOOST_AUTO_TEST_SUITE(misuse)

TP_WORLD_TEST(two_threads_at_once_are_told_and_the_group_still_works) {
  SharedFlag disturbed;
  const auto result = run_world(world, 2, [&](ProcessGroup& group) {
    Findings found;
    if (group.rank() == 0) {
      std::int64_t one = 1;
      Work work = group.all_reduce_async(std::span(&one, 1));
      std::atomic<int> refusals{0};
      std::thread waiting = wait_in_thread(work, refusals);
      found.contains(disturb(group), "two threads use the process groups of rank 0", "the text");
      disturbed.raise();
      waiting.join();
      found.equal(one, 2, "the sum that was waited for");
    } else {
      disturbed.wait();
      found.equal(sum_of_ones(group), 2, "the sum on the other rank");
    }
    found.equal(sum_of_ones(group), 2, "the sum afterwards");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(a_group_may_go_from_thread_to_thread) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    Findings found;
    for (int i = 0; i < 20; ++i) {
      std::int64_t sum = 0;
      std::thread([&] { sum = sum_of_ones(group); }).join();
      found.equal(sum, 2, "the sum in another thread");
      found.equal(sum_of_ones(group), 2, "the sum in the first thread");
    }
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(a_work_that_outlives_its_group_says_so) {
  SharedFlag given_up;
  const auto result = run_world(world, 2, [&](ProcessGroup& group) {
    Findings found;
    std::optional<ProcessGroup> part = group.split(0, 0);
    std::int64_t value = 5;
    Work completed = part->barrier_async();
    completed.wait();
    if (group.rank() == 1) {
      given_up.wait();
      // What was posted before it was given up counts.
      found.equal(sum_of_ones(*part), 6, "the sum");
      const std::string text = found.throws<PeerFailure>([&] { part->barrier(); }, "the next one");
      found.contains(text, "gave up the group", "the text");
    } else {
      Work pending = part->all_reduce_async(std::span(&value, 1));
      found.throws<InvalidArgument>([&] { pending.contributors(); }, "contributors() too early");
      part.reset();
      found.expect(pending.is_completed(), "nothing to wait for");
      const std::string text = found.throws<InvalidArgument>([&] { pending.wait(); }, "wait()");
      found.contains(text, "given up before the operation ended", "the text");
      found.throws<InvalidArgument>([&] { pending.contributors(); }, "contributors()");
      given_up.raise();
    }
    found.equal(completed.wait().count(), 2, "the contributors of what had completed");
    found.equal(sum_of_ones(group), 2, "the sum in the group");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(contributors_are_known_once_the_operation_has_completed) {
  SharedFlag asked;
  const auto result = run_world(world, 3, [&](ProcessGroup& group) {
    Findings found;
    std::int64_t one = 1;
    if (group.rank() == 2) asked.wait();
    Work work = group.all_reduce_async(std::span(&one, 1));
    if (group.rank() == 0) {
      const std::string text =
          found.throws<InvalidArgument>([&] { work.contributors(); }, "contributors()");
      found.contains(text, "wait()", "the remedy");
      asked.raise();
    }
    work.wait();
    found.expect(work.contributors() == conformance::everyone(3), "all contributed");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(a_group_ends_with_its_last_handle) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    Findings found;
    std::optional<ProcessGroup> part = group.split(0, 0);
    std::optional<ProcessGroup> copy = part;
    found.expect(*copy == *part && !(*copy == group), "copies are the same group");
    part.reset();
    found.equal(sum_of_ones(*copy), 2, "the sum by the copy");
    group.barrier();
    if (group.rank() == 1) copy.reset();
    group.barrier();
    if (group.rank() == 0) {
      found.throws<PeerFailure>([&] { copy->barrier(); }, "a call after the other's last handle");
    }
    found.equal(sum_of_ones(group), 2, "the sum in the group");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(splitting)

constexpr std::size_t kPartsMax = shm::kGroupCountMax - 1;  // beside the group of all ranks

// What rank r passes in a round.
std::pair<int, int> color_and_key(int rank, std::uint64_t round) {
  constexpr int kNumbers[] = {INT_MIN, -1, 0, 1, INT_MAX};
  const std::uint64_t random = conformance::mix(round * 64 + static_cast<std::uint64_t>(rank));
  return {kNumbers[random % 3 + round % 3], kNumbers[(random >> 8) % 5]};
}

// The ranks that get rank's color, in their new order.
std::vector<int> expected_members(int rank, int world_size, std::uint64_t round) {
  std::vector<std::tuple<int, int>> members;  // key, rank
  for (int r = 0; r < world_size; ++r) {
    const auto [color, key] = color_and_key(r, round);
    if (color == color_and_key(rank, round).first) members.emplace_back(key, r);
  }
  std::sort(members.begin(), members.end());
  std::vector<int> ranks;
  for (const auto& [key, r] : members) ranks.push_back(r);
  return ranks;
}

TP_WORLD_TEST(any_colors_and_keys_give_the_groups_and_orders_that_they_say) {
  const auto result = run_world(world, 5, [](ProcessGroup& group) {
    Findings found;
    for (std::uint64_t round = 0; round < 40; ++round) {
      const auto [color, key] = color_and_key(group.rank(), round);
      ProcessGroup part = group.split(color, key);
      const std::vector<int> members = expected_members(group.rank(), 5, round);
      std::vector<std::int32_t> ranks(static_cast<std::size_t>(part.size()));
      const std::int32_t own = group.rank();
      part.all_gather(std::span(&own, 1), std::span(ranks));
      found.expect(std::equal(ranks.begin(), ranks.end(), members.begin(), members.end()),
                   "the members of round " + std::to_string(round));
    }
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(as_many_groups_as_fit_work_at_once_and_one_more_is_refused_on_all_ranks) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    Findings found;
    std::vector<ProcessGroup> parts;
    for (std::size_t i = 0; i < kPartsMax; ++i) parts.push_back(group.split(0, 0));
    for (int round = 0; round < 2; ++round) {
      const std::string text =
          found.throws<SegmentError>([&] { group.split(0, 0); }, "one group too many");
      found.contains(text, "no further group fits", "the text");
      found.contains(text, std::to_string(kPartsMax), "the limit");
    }
    for (ProcessGroup& part : parts) found.equal(sum_of_ones(part), 2, "the sum in a part");
    found.equal(sum_of_ones(group), 2, "the sum in the group");
    parts.erase(parts.begin() + 10);
    group.barrier();
    parts.push_back(group.split(0, 0));
    found.equal(sum_of_ones(parts.back()), 2, "the sum in the slot that became free");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

// One color finds a slot, the other doesn't: nobody gets a group, and nothing stays taken.
TP_WORLD_TEST(a_split_that_fits_for_one_color_only_is_refused_for_all) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    Findings found;
    std::vector<ProcessGroup> parts;
    for (std::size_t i = 0; i + 1 < kPartsMax; ++i) parts.push_back(group.split(0, 0));
    for (int round = 0; round < 3; ++round) {
      found.throws<SegmentError>([&] { group.split(group.rank(), 0); }, "a split into two");
    }
    group.barrier();
    parts.push_back(group.split(0, 0));
    found.equal(sum_of_ones(parts.back()), 2, "the sum in the last part");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

// Each group's first operations: the small ones find no arrivals of the slot's last group, the
// large one no progress.
TP_WORLD_TEST(slots_of_groups_that_were_given_up_are_as_new) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    for (int i = 0; i < 300; ++i) {
      ProcessGroup part = group.split(i % 2 == 0 ? 0 : group.rank() % 2, -group.rank());
      for (int k = 0; k < i % 5; ++k) found.equal(sum_of_ones(part), part.size(), "a sum");
      std::vector<std::int32_t> values(i % 3 == 0 ? 5'000 : 10, i);
      part.all_reduce(std::span(values));
      found.equal(values.back(), i * part.size(), "the sum of the last values");
    }
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::distributed
