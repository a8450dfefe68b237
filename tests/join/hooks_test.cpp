// Main hooks keep a joined rank in step: what they shadow is matched, what they don't is followed.

#include "tests/join/joinables.h"
#include "tests/worlds/world_test.h"

#include <algorithm>
#include <string>

namespace tensorplay::join_tests {
namespace {

using worlds::Findings;
using worlds::run_world;
using worlds::World;

// Every rank ends with the whole history, whether it made the calls or shadowed them.
void expect_whole(Findings& found, const Mirror& mirror, const std::vector<int>& calls) {
  const std::vector<double> whole = history_of(calls);
  found.equal(mirror.history.size(), whole.size(), "the length of the history");
  for (std::size_t i = 0; i < std::min(whole.size(), mirror.history.size()); ++i) {
    found.equal(mirror.history[i], whole[i], "entry " + std::to_string(i));
    found.equal(to_string(mirror.contributors[i]), to_string(active_at(calls, static_cast<int>(i))),
                "its contributors");
  }
  found.expect(!mirror.torn, "buffers are filled wholly or not at all");
}

void check_in_step(World world, const std::vector<int>& inputs, std::size_t count) {
  const auto result = run_world(world, static_cast<int>(inputs.size()), [&](ProcessGroup& group) {
    Findings found;
    Mirror mirror(group, count);
    const JoinReport report = with_join({mirror}, {}, [&] {
      for (int i = 0; i < own(inputs, group); ++i) {
        mirror.use();
        found.equal(mirror.work->result(), active_at(inputs, i).count(), "active ranks");
      }
    });
    expect_whole(found, mirror, inputs);
    found.equal(mirror.shadowed, own(report.ranks, group).shadowed, "main hooks run");
    found.equal(mirror.not_made, 0, "calls that weren't made");
    found.equal(mirror.was_last_joiner, mirror.shadowed == 0, "is_last_joiner");
    return found.text();
  });
  BOOST_TEST_CONTEXT(count << " elements") {
    BOOST_TEST(result.findings() == "");
  }
}

BOOST_AUTO_TEST_SUITE(hooks)

TP_WORLD_TEST(what_a_shadow_call_reduced_is_in_its_buffer) {
  for (std::size_t count : {1u, 4u, 100u, 1'024u, 8'192u, 8'193u, 50'000u, 200'000u}) {
    check_in_step(world, {1, 4}, count);
  }
}

TP_WORLD_TEST(several_joined_ranks_stay_in_step) {
  for (std::size_t count : {2u, 500u, 30'000u}) {
    check_in_step(world, {1, 2, 3, 6}, count);
    check_in_step(world, {5, 0, 2, 0}, count);
  }
}

TP_WORLD_TEST(hundreds_of_shadowed_iterations_stay_in_step) {
  check_in_step(world, {0, 300, 120}, 50);
}

TP_WORLD_TEST(even_inputs_shadow_nothing) {
  check_in_step(world, {3, 3, 3}, 10);
}

TP_WORLD_TEST(a_shadow_call_that_isnt_made_this_time_says_so_and_touches_nothing) {
  const std::vector<int> inputs = {2, 8, 5};
  const auto result = run_world(world, 3, [&](ProcessGroup& group) {
    Findings found;
    Mirror mirror(group, 1000);
    with_join({mirror}, {}, [&] {
      for (int i = 0; i < own(inputs, group); ++i) mirror.use(i % 2 == 1);
    });
    expect_whole(found, mirror, {1, 4, 3});  // the even iterations
    const std::vector<int> odd_ones_left = {3, 0, 2};
    found.equal(mirror.not_made, own(odd_ones_left, group), "calls that weren't made");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(stray_collectives_of_the_loop_are_followed) {
  const std::vector<int> inputs = {1, 5, 3};
  const auto result = run_world(world, 3, [&](ProcessGroup& group) {
    Findings found;
    Mirror mirror(group, 300);
    with_join({mirror}, {}, [&] {
      for (int i = 0; i < own(inputs, group); ++i) {
        const int active = active_at(inputs, i).count();
        mirror.use();
        float loss = 1;  // a metric: neither its type nor its size is the hook's
        group.all_reduce(std::span(&loss, 1));
        found.equal(loss, static_cast<float>(active), "the metric");
        std::vector<std::int32_t> one(2'000, group.rank()), all(6'000);
        found.equal(group.all_gather<std::int32_t>(one, all).count(), active, "the gather");
        found.equal(all[0], 0, "the block of rank 0, absent or not");
        if (i % 2 == 0) group.barrier();
        std::vector<double> from_1(20'000, group.rank());
        group.broadcast(std::span(from_1), 1);
        found.equal(from_1[19'999], 1.0, "the broadcast value");
      }
    });
    expect_whole(found, mirror, inputs);
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(a_joinable_called_several_times_per_iteration_is_shadowed_as_often) {
  const std::vector<int> inputs = {1, 4, 2};
  const auto result = run_world(world, 3, [&](ProcessGroup& group) {
    Findings found;
    Mirror mirror(group, 20);
    with_join({mirror}, {}, [&] {
      for (int i = 0; i < own(inputs, group); ++i) {
        mirror.use();
        mirror.use();
        mirror.use();
      }
    });
    expect_whole(found, mirror, {3, 12, 6});
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(joinables_may_be_called_in_another_order_than_listed) {
  const std::vector<int> inputs = {2, 6, 1};
  for (bool reversed : {false, true}) {
    const auto result = run_world(world, 3, [&](ProcessGroup& group) {
      Findings found;
      Mirror small(group, 3), large(group, 9'000);
      with_join({small, large}, {}, [&] {
        for (int i = 0; i < own(inputs, group); ++i) {
          (reversed ? large : small).use();
          (reversed ? small : large).use();
        }
      });
      expect_whole(found, small, inputs);
      expect_whole(found, large, inputs);
      return found.text();
    });
    BOOST_TEST_CONTEXT("reversed " << reversed) {
      BOOST_TEST(result.findings() == "");
    }
  }
}

// Two of one shape can be told apart by nothing but who makes the call.
TP_WORLD_TEST(joinables_of_one_shape_are_told_apart_by_who_calls) {
  const std::vector<int> inputs = {1, 5};
  const auto result = run_world(world, 2, [&](ProcessGroup& group) {
    Findings found;
    Mirror a(group, 10), b(group, 10);
    with_join({a, b}, {}, [&] {
      for (int i = 0; i < own(inputs, group); ++i) {
        b.use();
        if (i % 2 == 0) a.use();
      }
    });
    expect_whole(found, a, {1, 3});
    expect_whole(found, b, inputs);
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(a_joinable_with_a_main_hook_and_one_without_go_together) {
  const std::vector<int> inputs = {3, 1, 5};
  const auto result = run_world(world, 3, [&](ProcessGroup& group) {
    Findings found;
    Counter counter(group);
    Mirror mirror(group, 700);
    with_join({counter, mirror}, {}, [&] {
      for (int i = 0; i < own(inputs, group); ++i) {
        counter.count();
        found.equal(counter.last, active_at(inputs, i).count(), "the count");
        mirror.use();
      }
    });
    expect_whole(found, mirror, inputs);
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

// Once per turn the first, twice the other one: as a generator and its critic.
TP_WORLD_TEST(joinables_used_unequally_often_are_all_shadowed) {
  const std::vector<int> inputs = {1, 4, 2};
  const auto result = run_world(world, 3, [&](ProcessGroup& group) {
    Findings found;
    Mirror once(group, 5), twice(group, 8);
    with_join({once, twice}, {}, [&] {
      for (int i = 0; i < own(inputs, group); ++i) {
        once.use();
        twice.use();
        twice.use();
      }
    });
    expect_whole(found, once, inputs);
    expect_whole(found, twice, {2, 8, 4});
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(a_joinable_used_every_second_turn_is_shadowed_then) {
  const std::vector<int> inputs = {1, 6, 4};
  for (int phase : {0, 1}) {
    const auto result = run_world(world, 3, [&](ProcessGroup& group) {
      Findings found;
      Mirror always(group, 5), sometimes(group, 8);
      with_join({sometimes, always}, {}, [&] {
        for (int i = 0; i < own(inputs, group); ++i) {
          always.use();
          if (i % 2 == phase) sometimes.use();
        }
      });
      expect_whole(found, always, inputs);
      expect_whole(found, sometimes,
                   phase == 0 ? std::vector<int>{1, 3, 2} : std::vector<int>{0, 3, 2});
      return found.text();
    });
    BOOST_TEST_CONTEXT("phase " << phase) {
      BOOST_TEST(result.findings() == "");
    }
  }
}

// The first to be used is used no more: the others' uses go on to be shadowed.
TP_WORLD_TEST(a_joinable_that_is_used_no_more_stops_nothing) {
  const std::vector<int> inputs = {2, 6, 4};
  const auto result = run_world(world, 3, [&](ProcessGroup& group) {
    Findings found;
    Mirror warm_up(group, 5), model(group, 8);
    with_join({warm_up, model}, {}, [&] {
      for (int i = 0; i < own(inputs, group); ++i) {
        if (i == 0) warm_up.use();
        model.use();
      }
    });
    expect_whole(found, warm_up, {1, 1, 1});
    expect_whole(found, model, inputs);
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(a_joinable_that_isnt_used_in_an_iteration_is_shadowed_in_vain) {
  const std::vector<int> inputs = {0, 3};
  const auto result = run_world(world, 2, [&](ProcessGroup& group) {
    Findings found;
    Counter counter(group);
    Mirror unused(group, 5);
    with_join({unused, counter}, {}, [&] {
      for (int i = 0; i < own(inputs, group); ++i) counter.count();
    });
    const std::vector<int> in_vain = {3, 0};
    found.equal(unused.not_made, own(in_vain, group), "shadow calls in vain");
    found.expect(!unused.torn, "buffers untouched");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(in_step_contexts_can_follow_one_another) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    for (int epoch = 0; epoch < 40; ++epoch) {
      const std::vector<int> inputs = {epoch % 3, 4 - epoch % 5, 2};
      Mirror mirror(group, epoch % 2 == 0 ? 4 : 2'000);
      with_join({mirror}, {}, [&] {
        for (int i = 0; i < own(inputs, group); ++i) mirror.use();
      });
      expect_whole(found, mirror, inputs);
    }
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::join_tests
