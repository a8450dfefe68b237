// From entering a context to leaving it: who has inputs, how the loop ends, what is left behind.

#include "tests/join/joinables.h"
#include "tests/worlds/world_test.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace tensorplay::join_tests {
namespace {

using worlds::Findings;
using worlds::run_world;
using worlds::World;

// Rank r counts inputs[r] times; every count and the report are what they should be.
void check(World world, const std::vector<int>& inputs) {
  const int size = static_cast<int>(inputs.size());
  const auto result = run_world(world, size, [&](ProcessGroup& group) {
    Findings found;
    Counter counter(group);
    Join join({counter}, {});
    for (int i = 0; i < own(inputs, group); ++i) {
      const Contributors who = counter.count();
      found.equal(to_string(who), to_string(active_at(inputs, i)), "the contributors");
      found.equal(counter.last, active_at(inputs, i).count(), "the sum of ones");
    }
    const JoinReport report = join.finish();
    const int most = *std::max_element(inputs.begin(), inputs.end());
    found.expect(report.enabled, "the context was enabled");
    found.equal(report.ranks.size(), inputs.size(), "the ranks of the report");
    for (std::size_t rank = 0; rank < inputs.size(); ++rank) {
      found.equal(report.ranks[rank].iterations, inputs[rank], "the iterations");
      found.equal(report.ranks[rank].shadowed, most - inputs[rank], "the shadowed iterations");
      found.equal(report.last_joiners.contains(static_cast<int>(rank)), inputs[rank] == most,
                  "whether a rank was last");
    }
    found.equal(report.authoritative_rank, report.last_joiners.highest(), "the authority");
    found.equal(counter.post_hooks_run, 1, "the post hooks run");
    found.equal(counter.was_last_joiner, own(inputs, group) == most, "is_last_joiner");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

template <typename Model>
concept JoinsAlone = requires(Model& model) {
  Join({model});
};

BOOST_AUTO_TEST_SUITE(lifecycle)

BOOST_AUTO_TEST_CASE(a_context_of_one_joinable_can_be_written_as_documented) {
  BOOST_TEST(JoinsAlone<Counter>);
}

TP_WORLD_TEST(ranks_with_more_inputs_go_on_without_the_others) {
  check(world, {1, 4, 2});
  check(world, {5, 1});
  check(world, {3, 3, 3, 9});
}

TP_WORLD_TEST(even_inputs_make_everybody_a_last_joiner) {
  check(world, {4, 4, 4});
}

TP_WORLD_TEST(a_rank_without_any_inputs_joins_at_once) {
  check(world, {0, 3, 2});
  check(world, {0, 0, 0, 5});
}

TP_WORLD_TEST(no_inputs_anywhere_is_a_context_too) {
  check(world, {0, 0, 0});
}

TP_WORLD_TEST(a_group_of_one_needs_nobody) {
  check(world, {5});
  check(world, {0});
}

TP_WORLD_TEST(contexts_can_follow_one_another) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    Counter counter(group);
    for (int epoch = 0; epoch < 200; ++epoch) {
      const std::vector<int> inputs = {epoch % 4, (epoch / 2) % 5, 3 - epoch % 3};
      Join join({counter}, {});
      for (int i = 0; i < own(inputs, group); ++i) {
        counter.count();
        found.equal(counter.last, active_at(inputs, i).count(), "the sum of ones");
      }
    }
    found.equal(counter.hooks_made, 200, "the hooks made");
    found.equal(counter.post_hooks_run, 200, "the post hooks run");
    found.equal(group.barrier().count(), 3, "contributors after all of it");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(collectives_between_contexts_are_everybodys) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    Counter counter(group);
    for (int epoch = 0; epoch < 30; ++epoch) {
      {
        Join join({counter}, {});
        for (int i = 0; i < group.rank() * epoch % 7; ++i) counter.count();
      }
      std::int64_t rank = group.rank();
      found.equal(group.all_reduce(std::span(&rank, 1)).count(), 3, "the contributors");
      found.equal(rank, 3, "the sum of the ranks");
    }
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(breaking_out_of_the_loop_joins_early) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    Counter counter(group);
    const auto loop = [&] {
      Join join({counter}, {});
      for (int i = 0; i < 6; ++i) {
        if (i == 2 && group.rank() == 1) return;  // out of the scope from inside
        if (i == 4 && group.rank() == 2) break;
        counter.count();
      }
    };
    loop();
    const std::vector<std::int64_t> totals = {3 + 3 + 2 + 2 + 1 + 1, 6, 10};
    found.equal(counter.total, own(totals, group), "the total");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(finishing_twice_gives_the_same_report) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    Findings found;
    Counter counter(group);
    Join join({counter}, {});
    for (int i = 0; i <= group.rank(); ++i) counter.count();
    const std::string once = to_string(join.finish());
    found.equal(to_string(join.finish()), once, "the second report");
    found.equal(counter.post_hooks_run, 1, "the post hooks run");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(the_report_is_the_same_on_all_ranks) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Counter counter(group);
    const JoinReport report = with_join({counter}, {}, [&] {
      for (int i = 0; i < 2 * group.rank(); ++i) counter.count();
    });
    return to_string(report);
  });
  const std::string& text = result.ranks[0].findings;
  BOOST_TEST(result.ranks[1].findings == text);
  BOOST_TEST(result.ranks[2].findings == text);
  BOOST_TEST(std::count(text.begin(), text.end(), '\n') >= 3);
}

TP_WORLD_TEST(the_report_tells_how_long_a_joined_rank_waited) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    using namespace std::chrono_literals;
    Findings found;
    Counter counter(group);
    const JoinReport report = with_join({counter}, {}, [&] {
      if (group.rank() == 0) return;
      for (int i = 0; i < 3; ++i) counter.count();
      std::this_thread::sleep_for(100ms);
    });
    found.expect(report.ranks[0].waiting >= 90ms, "rank 0 waited for 90 ms at least");
    found.expect(report.ranks[1].waiting < report.ranks[0].waiting, "rank 1 waited less");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(nothing_of_a_context_is_left_after_it) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    Counter counter(group);
    found.expect(!counter.in_join_context(), "outside before");
    {
      Join join({counter}, {});
      found.expect(counter.in_join_context(), "inside");
      for (int i = 0; i < group.rank(); ++i) counter.count();
    }
    found.expect(!counter.in_join_context(), "outside afterwards");
    // A rank that goes on alone, to evaluate, is neither counted nor waited for.
    if (group.rank() == 1) {
      for (int i = 0; i < 10; ++i) {
        found.expect(!Join::notify_join_context(counter).has_value(), "no work outside");
      }
    }
    group.barrier();
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(a_disabled_context_makes_hooks_and_runs_none) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    Findings found;
    Counter counter(group);
    const JoinReport report = with_join({counter}, {.enable = false}, [&] {
      found.expect(!counter.in_join_context(), "not in an enabled context");
      for (int i = 0; i < 3; ++i) counter.count();
      found.expect(!counter.work.has_value(), "no work in a disabled context");
    });
    found.equal(counter.total, 6, "the total");
    found.expect(!report.enabled, "the report says so");
    found.equal(counter.post_hooks_run, 0, "the post hooks run");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

// One host, one clock.
std::int64_t now_ns() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

TP_WORLD_TEST(a_context_returns_when_all_have_joined_and_not_before) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    Counter counter(group);
    std::int64_t still_active_at = 0;
    {
      Join join({counter}, {});
      if (group.rank() == 2) {
        std::this_thread::sleep_for(std::chrono::milliseconds(150));
        counter.count();
        still_active_at = now_ns();
      }
    }
    const std::int64_t left_at = now_ns();
    std::vector<std::int64_t> all(3);
    group.all_gather<std::int64_t>({&still_active_at, 1}, all);
    found.expect(left_at >= all[2], "left while rank 2 was active");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

// Nobody waits at the end of a disabled context: ranks may be any number of contexts apart there.
TP_WORLD_TEST(enabled_and_disabled_contexts_take_turns) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    Counter counter(group);
    for (int epoch = 0; epoch < 300; ++epoch) {
      {
        Join join({counter}, {});
        for (int i = 0; i < (epoch + group.rank()) % 3; ++i) counter.count();
      }
      Join join({counter}, {.enable = false});
      if (epoch % 7 == 0) group.barrier();
    }
    found.equal(counter.post_hooks_run, 300, "the contexts that ended");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

// Its post hook can't be run.
class Unfinishable : public Joinable {
 public:
  explicit Unfinishable(ProcessGroup group) : group_(std::move(group)) {}
  std::unique_ptr<JoinHook> join_hook(const JoinKwargs&) override {
    return std::make_unique<PostHook>([](bool) { throw std::runtime_error("a post hook's"); });
  }
  ProcessGroup& join_process_group() override { return group_; }

 private:
  ProcessGroup group_;
};

TP_WORLD_TEST(a_context_that_an_exception_ended_has_no_report) {
  const auto result = run_world(world, 1, [](ProcessGroup& group) {
    Findings found;
    Unfinishable joinable(group);
    Join join({joinable}, {});
    found.contains(found.throws<std::runtime_error>([&] { join.finish(); }, "finish()"),
                   "a post hook's", "the text");
    found.contains(found.throws<PeerFailure>([&] { join.finish(); }, "finish() again"),
                   "a post hook's", "the text again");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::join_tests
