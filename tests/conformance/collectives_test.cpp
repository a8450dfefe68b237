// Every collective against the oracle: kinds, element types, reductions, counts, roots, places.

#include "tests/conformance/plan.h"
#include "tests/worlds/world_test.h"

#include <utility>

namespace tensorplay::conformance {
namespace {

using distributed::PeerFailurePolicy;
using worlds::kForked;
using worlds::run_world;
using worlds::World;

const std::vector<std::size_t> kSmallCounts = {0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17};

// In a job whose ranks survive a peer's death large operations take another path.
void check(World world, int world_size, const std::vector<Case>& cases) {
  for (const auto policy : {PeerFailurePolicy::raise, PeerFailurePolicy::continue_without}) {
    worlds::WorldOptions options;
    options.on_peer_failure = policy;
    const auto result = run_world(
        world, world_size, [&](ProcessGroup& group) { return run_cases(group, cases); }, options);
    BOOST_TEST_CONTEXT("world size " << world_size << ", on_peer_failure = " << name(policy)) {
      BOOST_TEST(result.findings() == "");
    }
  }
}

BOOST_AUTO_TEST_SUITE(collectives)

TP_WORLD_TEST(every_kind_takes_every_small_count_at_every_small_world_size) {
  for (int size = 1; size <= 9; ++size) check(world, size, kinds_by_counts(size, kSmallCounts));
}

TP_WORLD_TEST(every_reduction_of_every_element_type_folds_in_rank_order) {
  for (int size : {1, 2, 3, 5}) check(world, size, every_reduction(size));
}

TP_WORLD_TEST(blocks_around_a_change_of_path_are_whole) {
  for (int size : {1, 2, 3, 5}) check(world, size, boundaries(size));
}

TP_WORLD_TEST(blocks_of_several_mebibytes_are_whole) {
  for (int size : {1, 2, 3}) check(world, size, large_blocks(size));
}

TP_WORLD_TEST(many_more_ranks_than_processors_work) {
  check(world, 16, kinds_by_counts(16, {0, 1, 3, 8, 17, 300, 5000}));
  check(world, 33, kinds_by_counts(33, {1, 9, 700}));
  check(world, 64, kinds_by_counts(64, {1, 40}));
}

// The sets of ranks are words of 64 bits.
TP_WORLD_TEST(more_ranks_than_one_word_of_bits_work) {
  if (!kForked) return;  // 128 threads of the sanitizer take long, and are no other case
  check(world, 65, kinds_by_counts(65, {3}));
  check(world, 128, kinds_by_counts(128, {5}));
}

TP_WORLD_TEST(a_sum_that_depends_on_its_order_is_the_one_from_rank_0_up) {
  const auto result = run_world(world, 4, [](ProcessGroup& group) {
    worlds::Findings found;
    // From the left: ((1e8 + 1) - 1e8) + 1 == 1 in float; other orders give 0 or 2.
    constexpr float kValues[] = {1e8f, 1.0f, -1e8f, 1.0f};
    float value = kValues[group.rank()];
    group.all_reduce(std::span(&value, 1));
    found.equal(value, 1.0f, "the sum");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(halves_are_rounded_once) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    worlds::Findings found;
    // Rounded after each step, 2048 + 1 would stay 2048 and the sum be 2048.
    constexpr float kHalves[] = {2048.0f, 1.0f, 1.0f};
    float16 half(kHalves[group.rank()]);
    group.all_reduce(std::span(&half, 1));
    found.equal(float(half), 2050.0f, "the float16 sum");
    constexpr float kBrains[] = {256.0f, 1.0f, 1.0f};
    bfloat16 brain(kBrains[group.rank()]);
    group.all_reduce(std::span(&brain, 1));
    found.equal(float(brain), 258.0f, "the bfloat16 sum");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(integer_averages_truncate_towards_zero) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    worlds::Findings found;
    std::int32_t values[] = {-group.rank() - 1, group.rank() + 2};  // sums -6 and 9 ...
    values[0] -= group.rank() == 2;                                 // ... -7
    values[1] -= group.rank() == 0;                                 // ... 8
    group.all_reduce<std::int32_t>(values, ReduceOp::avg);
    found.equal(values[0], -2, "the average of -7");
    found.equal(values[1], 2, "the average of 8");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::conformance
