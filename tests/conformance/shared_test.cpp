// all_reduce_shared: the result lies once, and all ranks read it.

#include "tests/conformance/oracle.h"
#include "tests/conformance/plan.h"
#include "tests/worlds/world_test.h"

#include <tensorplay/error.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace tensorplay::conformance {
namespace {

using distributed::PeerFailurePolicy;
using worlds::Findings;
using worlds::kForked;
using worlds::run_world;
using worlds::World;
using worlds::WorldOptions;

struct Sum {
  DType dtype = DType::float32;
  ReduceOp op = ReduceOp::sum;
  std::size_t count = 0;
  std::size_t shift = 0;  // elements by which values and result miss the beginning of their memory
};

std::string to_string(const Sum& one) {
  return std::string(tensorplay::name(one.dtype)) + " " + distributed::name(one.op) + ", " +
         std::to_string(one.count) + " elements, shifted by " + std::to_string(one.shift);
}

// Makes one, and compares it with the oracle and with the bits of all_reduce.
template <Element T>
std::string run_one(ProcessGroup& group, const Sum& one) {
  const Pattern pattern{.salt = one.count, .op = one.op};
  const std::span<T> memory = group.allocate<T>(one.count + one.shift);
  const std::span<const T> shared = group.allocate_shared<T>(one.count + one.shift);
  const std::span<T> values = memory.subspan(one.shift);
  const std::span<const T> result = shared.subspan(one.shift);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_at<T>(pattern, group.rank(), i);
  std::vector<T> same_bits(values.begin(), values.end());

  Findings found;
  const Contributors who = group.all_reduce_shared(values, result, one.op);
  found.equal(who.count(), group.size(), "the number of contributors");
  group.all_reduce(std::span(same_bits), one.op);
  std::vector<T> folded(static_cast<std::size_t>(group.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (int r = 0; r < group.size(); ++r) {
      folded[static_cast<std::size_t>(r)] = value_at<T>(pattern, r, i);
    }
    const bool is_right = same(result[i], fold<T>(one.op, folded)) && same(result[i], same_bits[i]);
    found.expect(is_right, "element " + std::to_string(i) + " is right");
    found.expect(same(values[i], value_at<T>(pattern, group.rank(), i)), "the values are kept");
  }
  for (const T& before : shared.first(one.shift)) found.expect(same(before, T{}), "zero before it");
  group.deallocate_shared(shared);
  group.deallocate(memory);
  return found.text();
}

std::string run_sums(ProcessGroup& group, const std::vector<Sum>& sums) {
  for (const Sum& one : sums) {
    const std::string wrong = with_type(
        one.dtype, [&]<typename T>(std::type_identity<T>) { return run_one<T>(group, one); });
    if (!wrong.empty()) return to_string(one) + ": " + wrong;
  }
  return "";
}

WorldOptions options_of(PeerFailurePolicy policy) {
  WorldOptions options;
  options.on_peer_failure = policy;
  return options;
}

void check(World world, int world_size, const std::vector<Sum>& sums) {
  for (const auto policy : {PeerFailurePolicy::raise, PeerFailurePolicy::continue_without}) {
    const auto result = run_world(
        world, world_size, [&](ProcessGroup& group) { return run_sums(group, sums); },
        options_of(policy));
    BOOST_TEST_CONTEXT("world size " << world_size << ", on_peer_failure = " << name(policy)) {
      BOOST_TEST(result.findings() == "");
    }
  }
}

std::vector<Sum> sums_of(const std::vector<std::size_t>& counts) {
  std::vector<Sum> sums;
  for (const std::size_t count : counts) {
    sums.push_back({.dtype = all_dtypes()[sums.size() % all_dtypes().size()],
                    .count = count,
                    .shift = sums.size() % 3});
  }
  return sums;
}

BOOST_AUTO_TEST_SUITE(shared)

TP_WORLD_TEST(every_small_count_works_at_every_small_world_size) {
  for (int size = 1; size <= 9; ++size) {
    check(world, size, sums_of({0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 33, 700}));
  }
}

TP_WORLD_TEST(every_reduction_of_every_type_has_the_bits_of_all_reduce) {
  std::vector<Sum> sums;
  for (const DType dtype : all_dtypes()) {
    for (const ReduceOp op : ops_of(dtype)) {
      sums.push_back({dtype, op, 1 + 97 * (sums.size() % 5), sums.size() % 2});
    }
  }
  for (const int size : {1, 2, 3, 5}) check(world, size, sums);
}

TP_WORLD_TEST(blocks_around_the_sizes_of_slices_and_pieces_are_whole) {
  std::vector<Sum> sums;
  for (const std::size_t bytes : {64u, 128u, 8192u, 65536u, 131072u, 262144u}) {
    for (const std::size_t near : {bytes / 4 - 1, bytes / 4, bytes / 4 + 1}) {
      sums.push_back({.count = near});
    }
  }
  for (const int size : {1, 2, 3, 5}) check(world, size, sums);
}

TP_WORLD_TEST(blocks_of_several_mebibytes_are_whole) {
  for (const int size : {1, 2, 3}) check(world, size, {{.count = 800'001, .shift = 1}});
}

TP_WORLD_TEST(many_more_ranks_than_processors_work) {
  check(world, 33, sums_of({1, 9, 700}));
  if (kForked) check(world, 65, sums_of({3}));
}

// A rank that is early with the next round must not write into what another one still reads.
TP_WORLD_TEST(a_result_stays_until_this_rank_makes_the_next_call) {
  for (const auto policy : {PeerFailurePolicy::raise, PeerFailurePolicy::continue_without}) {
    const auto body = [](ProcessGroup& group) {
      Findings found;
      const std::span<std::int64_t> values = group.allocate<std::int64_t>(3'000);
      const std::span<const std::int64_t> result = group.allocate_shared<std::int64_t>(3'000);
      for (std::int64_t round = 0; round < 200; ++round) {
        const std::size_t count = round % 2 == 0 ? 3'000 : 20;
        std::ranges::fill(values, round + group.rank());
        group.all_reduce_shared(values.first(count), result.first(count));
        for (int look = 0; look < 1 + group.rank(); ++look) {
          const auto right = [&](std::int64_t value) { return value == 3 * round + 3; };
          found.equal(std::ranges::count_if(result.first(count), right),
                      static_cast<std::ptrdiff_t>(count), "the right sums");
        }
      }
      group.deallocate_shared(result);
      group.deallocate(values);
      return found.text();
    };
    BOOST_TEST(run_world(world, 3, body, options_of(policy)).findings() == "");
  }
}

TP_WORLD_TEST(several_at_once_may_be_awaited_in_any_order_and_mixed_with_others) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    constexpr std::size_t kCalls = 30, kCount = 900;
    const std::span<float> values = group.allocate<float>(kCalls * kCount);
    const std::span<const float> sums = group.allocate_shared<float>(kCalls * kCount);
    std::vector<float> own(kCalls, 1.0F);
    std::vector<Work> works;
    for (std::size_t i = 0; i < kCalls; ++i) {
      const auto part = values.subspan(i * kCount, kCount);
      std::ranges::fill(part, static_cast<float>(i));
      works.push_back(group.all_reduce_shared_async(part, sums.subspan(i * kCount, kCount)));
      works.push_back(group.all_reduce_async(std::span(own).subspan(i, 1)));
    }
    if (group.rank() == 1) std::ranges::reverse(works);
    for (Work& work : works) found.equal(work.wait().count(), 3, "the contributors");
    for (std::size_t i = 0; i < sums.size(); ++i) {
      found.equal(sums[i], static_cast<float>(3 * (i / kCount)), "a sum");
    }
    found.equal(own[kCalls - 1], 3.0F, "another sum");
    group.deallocate_shared(sums);
    group.deallocate(values);
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(a_part_of_a_group_shares_results_of_its_own) {
  const auto result = run_world(world, 4, [](ProcessGroup& group) {
    Findings found;
    ProcessGroup part = group.split(group.rank() % 2, -group.rank());
    const std::span<float> values = group.allocate<float>(5'000);
    std::ranges::fill(values, static_cast<float>(group.rank()));
    const std::span<const float> sums = part.allocate_shared<float>(5'000);
    part.all_reduce_shared(values, sums);
    found.equal(sums[4'999], group.rank() % 2 == 0 ? 2.0F : 4.0F, "the part's sum");
    found.throws<InvalidArgument>([&] { group.all_reduce_shared(values, sums); },
                                  "the whole, with the part's memory");
    part.deallocate_shared(sums);
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(other_places_of_the_result_are_a_mismatch_on_all_ranks) {
  for (const auto policy : {PeerFailurePolicy::raise, PeerFailurePolicy::continue_without}) {
    const auto body = [](ProcessGroup& group) -> std::string {
      const std::span<float> values = group.allocate<float>(100);
      const std::span<const float> sums = group.allocate_shared<float>(200);
      try {
        group.all_reduce_shared(values, sums.subspan(group.rank() == 1 ? 100 : 0, 100));
      } catch (const CollectiveMismatch& error) {
        return error.what();
      }
      return "no error";
    };
    const auto result = run_world(world, 3, body, options_of(policy));
    const std::string& text = result.ranks[0].findings;
    BOOST_TEST((text.find("place of the result") != std::string::npos), text);
    BOOST_TEST((text.find("ranks 0, 2 pass ") != std::string::npos), text);
    for (const auto& rank : result.ranks) BOOST_TEST(rank.findings == text);
  }
}

TP_WORLD_TEST(memory_that_isnt_meant_for_it_is_an_error_and_the_group_is_whole) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    Findings found;
    std::vector<float> own(64);
    const std::span<float> values = group.allocate<float>(64);
    const std::span<const float> sums = group.allocate_shared<float>(64);
    const auto refused = [&](std::span<const float> source, std::span<const float> target) {
      return found.throws<InvalidArgument>([&] { group.all_reduce_shared(source, target); },
                                           "a wrong call");
    };
    found.contains(refused(own, sums), "allocate()", "the text for own values");
    found.contains(refused(values, own), "allocate_shared()", "the text for own memory");
    found.contains(refused(values, values), "pass separate buffers", "the text for one buffer");
    found.contains(refused(sums.first(8), sums.last(8)), "allocate()", "the text for a result");
    found.contains(refused(values.first(63), sums), "64", "the text for other lengths");
    // Memory ends with the page, what was asked for ends before it.
    const std::span<const float> beyond(sums.data() + 60, 8);
    found.contains(refused(values.first(8), beyond), "allocate_shared()", "the text for beyond");
    values[63] = 1.0F;
    group.all_reduce_shared(values, sums);
    found.equal(sums[63], 2.0F, "the sum");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(memory_given_back_can_be_had_again_and_is_zero) {
  for (const auto policy : {PeerFailurePolicy::raise, PeerFailurePolicy::continue_without}) {
    WorldOptions options = options_of(policy);
    options.arena_bytes = std::size_t{2} << 20;
    const auto body = [](ProcessGroup& group) {
      Findings found;
      const std::span<double> values = group.allocate<double>(20'000);
      std::ranges::fill(values, 1.0);
      for (int round = 0; round < 60; ++round) {  // together many times the arena
        const std::span<const double> sums = group.allocate_shared<double>(20'000);
        found.expect(sums[0] == 0 && sums.back() == 0, "zero");
        group.barrier();
        group.all_reduce_shared(values, sums);
        found.equal(sums.back(), 3.0, "the sum");
        group.deallocate_shared(sums);
      }
      return found.text();
    };
    BOOST_TEST(run_world(world, 3, body, options).findings() == "");
  }
}

TP_WORLD_TEST(too_little_room_is_the_same_error_on_all_ranks_and_the_group_is_whole) {
  for (const auto policy : {PeerFailurePolicy::raise, PeerFailurePolicy::continue_without}) {
    WorldOptions options = options_of(policy);
    options.arena_bytes = std::size_t{1} << 20;
    const auto body = [](ProcessGroup& group) -> std::string {
      Findings found;
      // Under either policy it's rank 0 that has too little.
      const auto taken = group.allocate<std::uint8_t>(group.rank() == 0 ? 900'000 : 1);
      const std::string text = found.throws<SegmentError>(
          [&] { group.allocate_shared<std::uint8_t>(200'000); }, "200 KB of what is left");
      group.deallocate(taken);
      const auto fits = group.allocate_shared<std::uint8_t>(200'000);
      group.deallocate_shared(fits);
      return found.empty() ? text : found.text();
    };
    const auto result = run_world(world, 3, body, options);
    const std::string& text = result.ranks[2].findings;
    BOOST_TEST(text.starts_with("rank 0: allocate_shared(): "), text);
    BOOST_TEST((text.find("bytes wanted") != std::string::npos), text);
    for (const auto& rank : result.ranks) BOOST_TEST(rank.findings == text);
  }
}

TP_WORLD_TEST(other_counts_or_other_memory_are_a_mismatch_on_all_ranks) {
  for (const bool counts : {true, false}) {
    const auto body = [counts](ProcessGroup& group) -> std::string {
      const bool odd = group.rank() == 2;
      try {
        const auto one = group.allocate_shared<float>(counts && odd ? 11 : 10);
        const auto two = group.allocate_shared<float>(10);
        group.deallocate_shared(odd ? one : two);
      } catch (const CollectiveMismatch& error) {
        return error.what();
      }
      return "no error";
    };
    const auto result = run_world(world, 3, body);
    const std::string& text = result.ranks[0].findings;
    BOOST_TEST(text.starts_with(counts ? "allocate_shared(): " : "deallocate_shared(): "), text);
    BOOST_TEST((text.find("rank 2 passes ") != std::string::npos), text);
    for (const auto& rank : result.ranks) BOOST_TEST(rank.findings == text);
  }
}

TP_WORLD_TEST(only_what_allocate_shared_gave_can_be_given_back) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    Findings found;
    const std::span<const float> sums = group.allocate_shared<float>(100);
    found.throws<InvalidArgument>([&] { group.deallocate_shared(sums.subspan(16)); }, "a part");
    group.deallocate_shared(sums);
    found.throws<InvalidArgument>([&] { group.deallocate_shared(sums); }, "the second time");
    group.deallocate_shared(group.allocate_shared<float>(0));
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::conformance
