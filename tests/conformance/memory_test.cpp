// Memory from allocate().

#include "tests/conformance/plan.h"
#include "tests/worlds/world_test.h"

#include <algorithm>

namespace tensorplay::conformance {
namespace {

using worlds::Findings;
using worlds::run_world;

BOOST_AUTO_TEST_SUITE(memory)

TP_WORLD_TEST(allocated_memory_is_zero_aligned_and_usable_in_every_collective) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    const std::span<float> values = group.allocate<float>(1001);
    found.equal(values.size(), 1001u, "the size");
    found.equal(reinterpret_cast<std::size_t>(values.data()) % 64, 0u, "the address modulo 64");
    found.expect(std::all_of(values.begin(), values.end(), [](float v) { return v == 0; }),
                 "all zero");
    std::fill(values.begin(), values.end(), static_cast<float>(group.rank() + 1));
    group.all_reduce(values);
    found.equal(values[1000], 6.0f, "the sum");
    group.deallocate(values);
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(ranks_may_allocate_differently) {
  const auto result = run_world(world, 4, [](ProcessGroup& group) {
    Findings found;
    // Puts the ranks' buffers at different places of their arenas.
    std::vector<std::span<double>> before;
    for (int i = 0; i < group.rank(); ++i) {
      before.push_back(group.allocate<double>(static_cast<std::size_t>(100 * i + 7)));
    }
    for (CollectiveKind kind : all_kinds()) {
      for (std::size_t count : {3u, 3'000u, 60'000u}) {
        found.equal(run_cases(group, {{.kind = kind, .count = count, .memory = Memory::shared}}),
                    "", "what is wrong");
      }
    }
    for (std::span<double> one : before) group.deallocate(one);
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(some_ranks_alone_may_pass_allocated_memory) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    std::vector<Case> cases;
    for (CollectiveKind kind : all_kinds()) {
      for (std::size_t count : {2u, 2'000u, 70'000u}) {
        for (Memory where : {Memory::some_shared, Memory::shared_source}) {
          for (bool in_place : {false, true}) {
            cases.push_back({.kind = kind,
                             .root = static_cast<int>(cases.size() % 3),
                             .count = count,
                             .in_place = in_place,
                             .memory = where,
                             .shift = cases.size() % 2});
          }
        }
      }
    }
    return run_cases(group, cases);
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(memory_given_back_can_be_had_again_and_is_zero) {
  const auto result = run_world(
      world, 2,
      [](ProcessGroup& group) {
        Findings found;
        // All of it together would be many times the arena.
        for (std::size_t round = 0; round < 400; ++round) {
          const std::span<std::int64_t> one = group.allocate<std::int64_t>(50'000 + round);
          const std::span<std::int64_t> two = group.allocate<std::int64_t>(30);
          found.expect(one[0] == 0 && one.back() == 0 && two[0] == 0 && two.back() == 0, "zero");
          std::fill(one.begin(), one.end(), -1);
          std::fill(two.begin(), two.end(), -1);
          group.deallocate(one);
          group.deallocate(two);
        }
        return found.text();
      },
      {.arena_bytes = std::size_t{4} << 20});
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(more_than_there_is_room_for_is_an_error_with_the_numbers) {
  const auto result =
      run_world(world, 2,
                [](ProcessGroup& group) {
                  Findings found;
                  const std::string text = found.throws<SegmentError>(
                      [&] { group.allocate<std::int64_t>(1'000'000); }, "allocating 8 MB of 1 MiB");
                  found.contains(text, "bytes wanted", "the text");
                  found.contains(text, "1048576", "the text");
                  const std::span<float> fits = group.allocate<float>(1000);
                  group.all_reduce(fits);
                  group.deallocate(fits);
                  return found.text();
                },
                {.arena_bytes = std::size_t{1} << 20});
  BOOST_TEST(result.findings() == "");
}

// Where deaths are survived, every large contribution needs room in its rank's arena.
constexpr worlds::WorldOptions kTightVaults{
    .arena_bytes = std::size_t{1} << 20,
    .on_peer_failure = distributed::PeerFailurePolicy::continue_without};

TP_WORLD_TEST(contributions_without_room_wait_until_others_have_read_the_earlier_ones) {
  const auto body = [](ProcessGroup& group) {
    Findings found;
    std::vector<std::vector<std::int64_t>> buffers(20, std::vector<std::int64_t>(20'000));
    std::vector<Work> works;
    for (auto& buffer : buffers) {
      std::fill(buffer.begin(), buffer.end(), group.rank() + 1);
      works.push_back(group.all_reduce_async(std::span(buffer)));
    }
    for (std::size_t i = 0; i < works.size(); ++i) {
      works[i].wait();
      found.equal(buffers[i].front(), 6, "the sum");
      found.equal(buffers[i].back(), 6, "the sum");
    }
    return found.text();
  };
  BOOST_TEST(run_world(world, 3, body, kTightVaults).findings() == "");
}

TP_WORLD_TEST(a_contribution_for_which_there_is_no_room_at_all_is_an_error_and_the_group_is_whole) {
  const auto body = [](ProcessGroup& group) {
    Findings found;
    std::vector<std::int64_t> buffer(100'000, 1);
    const std::string text = found.throws<SegmentError>(
        [&] { group.all_reduce(std::span(buffer)); }, "a sum of 800 KB with vaults of 1 MiB");
    found.contains(text, "no room in the arena", "the text");
    found.contains(text, "raise arena_bytes", "the text");
    group.all_reduce(std::span(buffer).first(20'000));
    found.equal(buffer[19'999], 2, "a smaller sum");
    return found.text();
  };
  BOOST_TEST(run_world(world, 2, body, kTightVaults).findings() == "");
}

TP_WORLD_TEST(memory_kept_for_one_groups_operations_makes_room_for_other_uses) {
  const auto body = [](ProcessGroup& group) {
    Findings found;
    ProcessGroup part = group.split(0, 0);
    std::vector<std::int64_t> buffer(40'000, 1);  // in a vault: more than half of the arena
    group.all_reduce(std::span(buffer));
    group.barrier();
    part.all_reduce(std::span(buffer));
    found.equal(buffer[39'999], 4, "the sum of sums");
    part.barrier();
    group.deallocate(group.allocate<std::uint8_t>(std::size_t{900} * 1024));
    return found.text();
  };
  BOOST_TEST(run_world(world, 2, body, kTightVaults).findings() == "");
}

TP_WORLD_TEST(an_impossible_count_is_an_error) {
  const auto result = run_world(world, 1, [](ProcessGroup& group) {
    Findings found;
    found.throws<Error>([&] { group.allocate<double>(~std::size_t{0} / 4); }, "allocating 2^62");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(allocated_memory_serves_a_group_and_its_parts) {
  const auto result = run_world(world, 4, [](ProcessGroup& group) {
    Findings found;
    ProcessGroup part = group.split(group.rank() % 2, -group.rank());
    const std::span<float> values = group.allocate<float>(30'000);
    std::fill(values.begin(), values.end(), static_cast<float>(group.rank()));
    part.all_reduce(values);
    found.equal(values[29'999], group.rank() % 2 == 0 ? 2.0f : 4.0f, "the part's sum");
    group.all_reduce(values);
    found.equal(values[29'999], 12.0f, "the whole's sum");
    group.deallocate(values);
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::conformance
