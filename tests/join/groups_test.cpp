// Contexts of sub-groups, beside each other and beside the collectives of other groups.

#include "tests/join/joinables.h"
#include "tests/worlds/world_test.h"

#include <string>

namespace tensorplay::join_tests {
namespace {

using worlds::Findings;
using worlds::run_world;

BOOST_AUTO_TEST_SUITE(groups)

TP_WORLD_TEST(the_parts_of_a_job_train_unevenly_without_each_other) {
  const std::vector<int> inputs = {3, 9, 5, 1, 0, 4};
  const auto result = run_world(world, 6, [&](ProcessGroup& group) {
    Findings found;
    const int rank = group.rank();
    ProcessGroup half = group.split(rank % 2, rank);
    const std::vector<int> of_half = {inputs[static_cast<std::size_t>(rank % 2)],
                                      inputs[static_cast<std::size_t>(rank % 2 + 2)],
                                      inputs[static_cast<std::size_t>(rank % 2 + 4)]};
    Counter counter(half);
    for (int epoch = 0; epoch < 3; ++epoch) {
      Join join({counter}, {});
      for (int i = 0; i < own(of_half, half); ++i) {
        counter.count();
        found.equal(counter.last, active_at(of_half, i).count(), "the sum of ones");
      }
    }
    found.equal(group.barrier().count(), 6, "the contributors of the whole");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(collectives_of_another_group_inside_the_loop_concern_that_group_alone) {
  const auto result = run_world(world, 4, [](ProcessGroup& group) {
    Findings found;
    const int rank = group.rank();
    ProcessGroup pair = group.split(rank / 2, 0);
    Counter counter(group);
    Join join({counter}, {});
    // Both ranks of a pair have the same inputs, so that the pair's collectives are whole.
    for (int i = 0; i < (rank / 2 == 0 ? 2 : 5); ++i) {
      counter.count();
      std::int64_t one = 1;
      pair.all_reduce(std::span(&one, 1));
      found.equal(one, 2, "the sum of the pair");
    }
    join.finish();
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(contexts_of_two_groups_can_be_one_inside_the_other) {
  const auto result = run_world(world, 4, [](ProcessGroup& group) {
    Findings found;
    const int rank = group.rank();
    ProcessGroup pair = group.split(rank / 2, 0);
    Counter outer(group), inner(pair);
    Join join({outer}, {});
    for (int i = 0; i < (rank / 2 == 0 ? 2 : 4); ++i) {
      outer.count();
      found.equal(outer.last, i < 2 ? 4 : 2, "the outer sum");
      with_join({inner}, {}, [&] {
        for (int k = 0; k < 1 + rank % 2; ++k) {
          inner.count();
          found.equal(inner.last, k == 0 ? 2 : 1, "the inner sum");
        }
      });
    }
    join.finish();
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(an_in_step_context_of_a_part_follows_its_own_part) {
  const auto result = run_world(world, 4, [](ProcessGroup& group) {
    Findings found;
    const int rank = group.rank();
    ProcessGroup pair = group.split(rank % 2, rank);
    const std::vector<int> calls = {1 + rank % 2, 4};
    Mirror mirror(pair, 100);
    {
      Join join({mirror}, {});
      for (int i = 0; i < own(calls, pair); ++i) mirror.use();
    }
    found.expect(mirror.history == history_of(calls), "the history is that of the pair");
    found.equal(group.barrier().count(), 4, "the contributors of the whole");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::join_tests
