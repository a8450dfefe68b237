// throw_on_early_termination: all ranks throw, in the same iteration, and the group stays whole.

#include "tests/join/joinables.h"
#include "tests/worlds/world_test.h"

#include <algorithm>
#include <string>

namespace tensorplay::join_tests {
namespace {

using worlds::Findings;
using worlds::run_world;
using worlds::World;

const JoinOptions kThrowing{.throw_on_early_termination = true};
constexpr const char* kDetected =
    "Detected at least one rank that exhausted inputs. Throwing across all ranks.";

std::string exhausted(int rank) {
  return "Rank " + std::to_string(rank) + " exhausted all inputs.";
}

// All ranks do as many iterations as the least inputs allow, then throw; those at the end of theirs
// say so. Even inputs throw nowhere.
void check(World world, const std::vector<int>& inputs) {
  const int least = *std::min_element(inputs.begin(), inputs.end());
  const bool even = least == *std::max_element(inputs.begin(), inputs.end());
  const auto result = run_world(world, static_cast<int>(inputs.size()), [&](ProcessGroup& group) {
    Findings found;
    Counter counter(group);
    int done = 0;
    const auto train = [&] {
      Join join({counter}, kThrowing);
      for (int i = 0; i < own(inputs, group); ++i) {
        counter.count();
        found.equal(counter.last, group.size(), "the sum of ones");
        ++done;
      }
    };
    if (even) {
      train();
    } else {
      const std::string text = found.throws<EarlyTermination>(train, "the context");
      found.equal(text, own(inputs, group) == least ? exhausted(group.rank()) : kDetected,
                  "the text");
    }
    found.equal(done, least, "the iterations");
    found.equal(counter.post_hooks_run, even ? 1 : 0, "the post hooks run");
    found.expect(!counter.in_join_context(), "outside afterwards");
    found.equal(group.barrier().count(), group.size(), "contributors afterwards");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE(early_termination)

TP_WORLD_TEST(the_first_rank_without_inputs_ends_it_for_all) {
  check(world, {3, 5, 4, 9});
  check(world, {7, 2, 4});
  check(world, {2, 1});
}

TP_WORLD_TEST(several_ranks_can_run_out_at_once) {
  check(world, {4, 2, 2, 7});
}

TP_WORLD_TEST(a_rank_without_any_inputs_ends_it_before_it_begins) {
  check(world, {3, 0, 5});
}

TP_WORLD_TEST(even_inputs_end_in_good_order) {
  check(world, {4, 4, 4});
  check(world, {0, 0});
  check(world, {6});
}

TP_WORLD_TEST(contexts_can_follow_a_throw) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    Counter counter(group);
    for (int epoch = 0; epoch < 50; ++epoch) {
      const std::vector<int> inputs = {1 + epoch % 3, 1 + epoch % 2, 2};
      const bool even = inputs[0] == inputs[1] && inputs[1] == inputs[2];
      bool threw = false;
      try {
        with_join({counter}, kThrowing, [&] {
          for (int i = 0; i < own(inputs, group); ++i) counter.count();
        });
      } catch (const EarlyTermination&) {
        threw = true;
      }
      found.equal(threw, !even, "whether epoch " + std::to_string(epoch) + " threw");
      std::int64_t rank = group.rank();
      group.all_reduce(std::span(&rank, 1));
      found.equal(rank, 3, "the sum of the ranks");
      // An uneven context without the flag right after it.
      with_join({counter}, {}, [&] {
        for (int i = 0; i < group.rank(); ++i) counter.count();
      });
    }
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(in_step_joinables_throw_alike) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    Mirror first(group, 10), second(group, 3'000);
    const std::vector<int> inputs = {3, 5, 4};
    const std::string text = found.throws<EarlyTermination>(
        [&] {
          with_join({first, second}, kThrowing, [&] {
            for (int i = 0; i < own(inputs, group); ++i) {
              first.use();
              second.use();
            }
          });
        },
        "the context");
    found.equal(text, group.rank() == 0 ? exhausted(0) : kDetected, "the text");
    found.equal(first.history.size(), 3u, "the uses of the first");
    found.equal(second.history.size(), 3u, "the uses of the second");
    found.equal(first.shadowed + second.shadowed, 0, "main hooks run");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(the_flag_counts_for_a_part_of_the_job_alone) {
  const auto result = run_world(world, 4, [](ProcessGroup& group) {
    Findings found;
    ProcessGroup pair = group.split(group.rank() / 2, 0);
    Counter counter(pair);
    const std::vector<int> inputs = {1, 2, 3, 3};  // uneven in the first pair only
    bool threw = false;
    try {
      with_join({counter}, kThrowing, [&] {
        for (int i = 0; i < own(inputs, group); ++i) counter.count();
      });
    } catch (const EarlyTermination&) {
      threw = true;
    }
    found.equal(threw, group.rank() / 2 == 0, "whether it threw");
    found.equal(group.barrier().count(), 4, "contributors of the whole");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::join_tests
