// What can't work: told by the rank alone where it can know, on all ranks where they differ.

#include "tests/join/joinables.h"
#include "tests/worlds/world_test.h"

#include <functional>
#include <string>

namespace tensorplay::join_tests {
namespace {

using worlds::Findings;
using worlds::run_world;
using worlds::World;
using worlds::WorldResult;

// All ranks end with one and the same CollectiveMismatch, which has each of `parts`.
void expect_mismatch(const WorldResult& result, const std::vector<std::string>& parts) {
  const std::string& text = result.ranks[0].findings;
  for (std::size_t rank = 0; rank < result.ranks.size(); ++rank) {
    BOOST_TEST_CONTEXT("rank " << rank) {
      BOOST_TEST(result.ranks[rank].findings.starts_with("CollectiveMismatch: "));
      BOOST_TEST(result.ranks[rank].findings == text);
    }
  }
  for (const std::string& part : parts) {
    BOOST_TEST_CONTEXT(part << " in: " << text) {
      BOOST_TEST(text.find(part) != std::string::npos);
    }
  }
}

// Ranks 0 and 2 of three train with `usual`, rank 1 with `odd`; the loop counts ten times.
WorldResult train_differently(World world, const JoinOptions& usual, const JoinOptions& odd) {
  return run_world(world, 3, [&](ProcessGroup& group) -> std::string {
    AllReducer reducer(group);
    with_join({reducer}, group.rank() == 1 ? odd : usual, [&] {
      for (int i = 0; i < 10; ++i) reducer.use();
    });
    return "nothing was thrown";
  });
}

// The construction throws InvalidArgument with each of `parts`, and leaves everything as it was.
void check_refused(World world, const std::function<void(ProcessGroup&, Counter&, Counter&)>& make,
                   const std::vector<std::string>& parts) {
  const auto result = run_world(world, 2, [&](ProcessGroup& group) {
    Findings found;
    Counter a(group), b(group);
    const std::string text = found.throws<InvalidArgument>([&] { make(group, a, b); }, "making it");
    for (const std::string& part : parts) found.contains(text, part, "the text");
    found.expect(!a.in_join_context() && !b.in_join_context(), "no Joinable is inside");
    with_join({a, b}, {}, [&] {
      for (int i = 0; i <= group.rank(); ++i) a.count();
    });
    found.equal(a.total, group.rank() == 0 ? 2 : 3, "the total of a context afterwards");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE(refusals)

TP_WORLD_TEST(no_joinable_is_refused) {
  check_refused(
      world,
      [](ProcessGroup&, Counter&, Counter&) { Join join(std::vector<JoinableReference>{}, {}); },
      {"at least one"});
}

TP_WORLD_TEST(a_joinable_listed_twice_is_refused) {
  check_refused(world,
                [](ProcessGroup&, Counter& a, Counter& b) {
                  Join join({a, b, a}, {});
                },
                {"Counter"});
}

TP_WORLD_TEST(joinables_of_two_groups_are_refused) {
  check_refused(world,
                [](ProcessGroup& group, Counter& a, Counter&) {
                  ProcessGroup other = group.split(0, group.rank());
                  Counter stranger(other);
                  Join join({a, stranger}, {});
                },
                {"group"});
}

TP_WORLD_TEST(an_argument_that_no_joinable_knows_is_refused) {
  check_refused(world,
                [](ProcessGroup&, Counter& a, Counter&) {
                  Join join({a}, {.kwargs = {{"divide_by_inital_world_size", false}}});
                },
                {"divide_by_inital_world_size"});
}

TP_WORLD_TEST(an_argument_of_another_type_is_refused) {
  check_refused(world,
                [](ProcessGroup& group, Counter& a, Counter&) {
                  AllReducer reducer(group);
                  Join join({a, reducer}, {.kwargs = {{"num_allreduces", "two"}}});
                },
                {"num_allreduces"});
}

TP_WORLD_TEST(a_joinable_that_is_inside_already_is_refused_and_the_outer_context_goes_on) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    Findings found;
    Counter a(group), b(group);
    with_join({a}, {}, [&] {
      for (int i = 0; i <= group.rank(); ++i) {
        found.throws<InvalidArgument>([&] { Join inner({a}, {}); }, "the same Joinable again");
        found.throws<InvalidArgument>([&] { Join inner({b}, {}); }, "the same group again");
        found.expect(a.in_join_context() && !b.in_join_context(), "as before");
        a.count();
      }
    });
    found.equal(a.total, group.rank() == 0 ? 2 : 3, "the total");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(another_throw_flag_on_one_rank_is_told_on_all) {
  expect_mismatch(train_differently(world, {}, {.throw_on_early_termination = true}),
                  {"rank 1", "throw_on_early_termination"});
  expect_mismatch(train_differently(world, {.throw_on_early_termination = true}, {}),
                  {"rank 1", "throw_on_early_termination"});
}

TP_WORLD_TEST(a_context_disabled_on_one_rank_is_told_on_all) {
  expect_mismatch(train_differently(world, {}, {.enable = false}), {"rank 1"});
  expect_mismatch(train_differently(world, {.enable = false}, {}), {"rank 1"});
}

TP_WORLD_TEST(other_arguments_on_one_rank_are_told_on_all) {
  expect_mismatch(train_differently(world, {.kwargs = {{"num_allreduces", 1}}},
                                    {.kwargs = {{"num_allreduces", 2}}}),
                  {"rank 1", "num_allreduces"});
  expect_mismatch(train_differently(world, {}, {.kwargs = {{"run_post_hooks", true}}}),
                  {"rank 1", "run_post_hooks"});
}

TP_WORLD_TEST(other_joinables_on_one_rank_are_told_on_all) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) -> std::string {
    Counter counter(group);
    AllReducer reducer(group);
    std::vector<JoinableReference> list = {counter, reducer};
    if (group.rank() == 2) list = {reducer, counter};
    with_join(list, {}, [&] {
      for (int i = 0; i < 5; ++i) counter.count();
    });
    return "nothing was thrown";
  });
  expect_mismatch(result, {"rank 2", "Counter", "AllReducer"});
}

TP_WORLD_TEST(a_missing_joinable_on_a_rank_without_inputs_is_told_on_all) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) -> std::string {
    Counter a(group), b(group);
    std::vector<JoinableReference> list = {a, b};
    if (group.rank() == 0) list = {a};
    with_join(list, {}, [&] {
      for (int i = 0; i < 3 * group.rank(); ++i) a.count();
    });
    return "nothing was thrown";
  });
  expect_mismatch(result, {"rank 0"});
}

TP_WORLD_TEST(differences_are_told_also_if_nobody_makes_a_collective) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) -> std::string {
    AllReducer reducer(group);
    with_join({reducer}, {.kwargs = {{"num_allreduces", group.rank()}}}, [&] {});
    return "nothing was thrown";
  });
  expect_mismatch(result, {"num_allreduces"});
}

TP_WORLD_TEST(one_rank_inside_and_one_outside_is_told_on_all) {
  for (int outside : {0, 1, 2}) {
    const auto result = run_world(world, 3, [=](ProcessGroup& group) -> std::string {
      Counter counter(group);
      if (group.rank() == outside) {
        counter.count();
      } else {
        with_join({counter}, {}, [&] { counter.count(); });
      }
      group.barrier();
      return "nothing was thrown";
    });
    expect_mismatch(result, {"rank " + std::to_string(outside)});
  }
}

TP_WORLD_TEST(different_collectives_inside_a_context_are_told_on_all) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) -> std::string {
    Counter counter(group);
    with_join({counter}, {}, [&] {
      counter.count();
      if (group.rank() == 2) group.barrier();
      counter.count();
    });
    return "nothing was thrown";
  });
  expect_mismatch(result, {"rank 2", "barrier", "all_reduce"});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::join_tests
