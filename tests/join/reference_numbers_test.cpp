// The numbers that the API's reference expects of its own Joinable.

#include "tests/join/joinables.h"
#include "tests/worlds/world_test.h"

#include <string>

namespace tensorplay::join_tests {
namespace {

using worlds::Findings;
using worlds::run_world;
using worlds::World;

struct Setting {
  int joinable_count = 1;
  int num_allreduces = 1;
  bool uneven = true;
};

constexpr int kBaseInputs = 3;

// Rank r's inputs: 3 + r, or 3 where they are even. Gives the total of what the uses returned.
std::int64_t train(ProcessGroup& group, const Setting& setting, JoinOptions options) {
  std::vector<AllReducer> reducers;
  for (int i = 0; i < setting.joinable_count; ++i) reducers.emplace_back(group);
  const std::vector<JoinableReference> list(reducers.begin(), reducers.end());
  std::int64_t total = 0;
  Join join(list, std::move(options));
  const int inputs = kBaseInputs + (setting.uneven ? group.rank() : 0);
  for (int i = 0; i < inputs; ++i) {
    for (AllReducer& reducer : reducers) total += reducer.use(setting.num_allreduces);
  }
  join.finish();
  return total;
}

void check(World world, const Setting& setting, const JoinOptions& options,
           const std::vector<std::int64_t>& totals) {
  const auto result = run_world(world, static_cast<int>(totals.size()), [&](ProcessGroup& group) {
    Findings found;
    found.equal(train(group, setting, options), own(totals, group), "the total");
    found.equal(group.barrier().count(), group.size(), "contributors after the context");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE(reference_numbers)

TP_WORLD_TEST(one_joinable_makes_the_totals_of_the_reference) {
  check(world, {}, {}, {6, 7});
  check(world, {}, {}, {12, 15, 17, 18});
}

TP_WORLD_TEST(three_joinables_make_three_times_the_totals) {
  check(world, {.joinable_count = 3}, {}, {18, 21});
  check(world, {.joinable_count = 3}, {}, {36, 45, 51, 54});
}

TP_WORLD_TEST(two_all_reduces_per_use_make_twice_the_totals) {
  const JoinOptions options{.kwargs = {{"num_allreduces", 2}}};
  check(world, {.num_allreduces = 2}, options, {12, 14});
  check(world, {.num_allreduces = 2}, options, {24, 30, 34, 36});
}

TP_WORLD_TEST(a_disabled_context_does_nothing_to_even_inputs) {
  check(world, {.uneven = false}, {.enable = false}, {6, 6});
  check(world, {.joinable_count = 2, .uneven = false}, {.enable = false}, {12 * 2, 24, 24, 24});
}

TP_WORLD_TEST(even_inputs_make_even_totals) {
  check(world, {.uneven = false}, {}, {6, 6});
  check(world, {.uneven = false}, {.throw_on_early_termination = true}, {9, 9, 9});
}

TP_WORLD_TEST(the_post_hook_of_the_last_joiner_of_the_highest_rank_decides) {
  for (bool uneven : {false, true}) {
    const auto result = run_world(world, 3, [=](ProcessGroup& group) {
      Findings found;
      AllReducer reducer(group);
      reducer.post_hook_tensor = 41;
      {
        Join join({reducer}, {.kwargs = {{"run_post_hooks", true}}});
        for (int i = 0; i < 3 + (uneven ? group.rank() : 0); ++i) reducer.use();
      }
      found.equal(reducer.post_hook_tensor, 42, "the tensor");
      return found.text();
    });
    BOOST_TEST(result.findings() == "");
  }
}

TP_WORLD_TEST(early_termination_has_the_messages_of_the_reference) {
  const auto result = run_world(world, 4, [](ProcessGroup& group) {
    return std::to_string(train(group, {}, {.throw_on_early_termination = true}));
  });
  BOOST_TEST(result.ranks[0].findings == "EarlyTermination: Rank 0 exhausted all inputs.");
  for (std::size_t rank : {1u, 2u, 3u}) {
    BOOST_TEST(
        result.ranks[rank].findings ==
        "EarlyTermination: Detected at least one rank that exhausted inputs. Throwing across "
        "all ranks.");
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::join_tests
