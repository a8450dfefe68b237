// all_reduce_shared while some ranks have joined.

#include "tests/join/joinables.h"
#include "tests/worlds/world_test.h"

#include <tensorplay/error.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

namespace tensorplay::join_tests {
namespace {

using distributed::PeerFailurePolicy;
using worlds::Findings;
using worlds::run_world;
using worlds::WorldOptions;

constexpr PeerFailurePolicy kPolicies[] = {PeerFailurePolicy::raise,
                                           PeerFailurePolicy::continue_without};

// Averages its ranks' numbers into memory that all of them read; its hook shadows that, if it has
// one.
class Averager : public Joinable {
 public:
  Averager(ProcessGroup group, std::size_t count, bool follows)
      : values(group.allocate<double>(count)),
        averages(group.allocate_shared<double>(count)),
        group_(std::move(group)),
        follows_(follows) {}
  // Whose results lie where those of another one do.
  Averager(const Averager& other, ProcessGroup group)
      : values(group.allocate<double>(other.values.size())),
        averages(other.averages),
        group_(std::move(group)),
        follows_(other.follows_) {}

  Contributors use() {
    Join::notify_join_context(*this);
    std::ranges::fill(values, 6.0 * group_.rank());
    return group_.all_reduce_shared(values, averages, ReduceOp::avg);
  }
  bool holds(double average) const {
    return std::ranges::all_of(averages, [=](double value) { return value == average; });
  }

  std::unique_ptr<JoinHook> join_hook(const JoinKwargs&) override {
    if (!follows_) return std::make_unique<JoinHook>();
    return std::make_unique<MainHook>(
        [this] {
          std::ranges::fill(values, -1.0);  // contributes nothing
          shadowed = group_.all_reduce_shared(values, averages, ReduceOp::avg);
          on_shadow();
        },
        nullptr);
  }
  ProcessGroup& join_process_group() override { return group_; }

  std::span<double> values;
  std::span<const double> averages;
  Contributors shadowed;
  std::function<void()> on_shadow = [] {};

 private:
  ProcessGroup group_;
  bool follows_;
};

WorldOptions options_of(PeerFailurePolicy policy) {
  WorldOptions options;
  options.on_peer_failure = policy;
  return options;
}

BOOST_AUTO_TEST_SUITE(shared_results)

// The rank in whose memory the results lie is the first to join.
TP_WORLD_TEST(joined_ranks_are_left_out_also_the_one_that_holds_the_results) {
  for (const auto policy : kPolicies) {
    for (const std::size_t count : {1u, 40u, 30'000u}) {
      const auto body = [count](ProcessGroup& group) {
        Findings found;
        Averager averager(group, count, false);
        with_join({averager}, {}, [&] {
          for (int i = 0; i < group.rank() + 1; ++i) {
            const Contributors who = averager.use();
            found.equal(who.count(), 3 - i, "the contributors");
            // Of 0, 6, 12; then of 6, 12; then of 12.
            found.expect(averager.holds(6.0 + 3.0 * i), "the average of the active ranks");
          }
        });
        averager.use();
        found.expect(averager.holds(6.0), "the average of all, afterwards");
        return found.text();
      };
      BOOST_TEST(run_world(world, 3, body, options_of(policy)).findings() == "");
    }
  }
}

TP_WORLD_TEST(a_joined_rank_in_step_reads_what_its_hook_shadows) {
  for (const auto policy : kPolicies) {
    for (const std::size_t count : {1u, 40u, 30'000u}) {
      const auto body = [count](ProcessGroup& group) {
        Findings found;
        Averager averager(group, count, true);
        int iteration = group.rank() + 1;
        averager.on_shadow = [&] {
          found.equal(averager.shadowed.count(), 3 - iteration, "the contributors");
          found.expect(averager.holds(6.0 + 3.0 * iteration), "the average of the active ranks");
          ++iteration;
        };
        with_join({averager}, {}, [&] {
          for (int i = 0; i < group.rank() + 1; ++i) averager.use();
        });
        found.equal(iteration, 3, "the iterations that were made or shadowed");
        return found.text();
      };
      BOOST_TEST(run_world(world, 3, body, options_of(policy)).findings() == "");
    }
  }
}

// The active ranks make more calls than the hook, on other memory, and in another order.
TP_WORLD_TEST(a_joined_rank_in_step_follows_calls_that_its_hook_does_not_make) {
  for (const auto policy : kPolicies) {
    const auto body = [](ProcessGroup& group) {
      Findings found;
      Averager averager(group, 1'000, true);
      const auto counts = group.allocate<std::int32_t>(500);
      const auto sums = group.allocate_shared<std::int32_t>(500);
      with_join({averager}, {}, [&] {
        for (int i = 0; i < 2 * group.rank(); ++i) {
          Join::notify_join_context(averager);
          std::ranges::fill(counts, 1);
          group.all_reduce_shared(counts, sums);
          found.equal(sums[499], i < 2 ? 2 : 1, "the count");
          std::ranges::fill(averager.values, 6.0 * group.rank());
          ProcessGroup& marked = averager.join_process_group();
          marked.all_reduce_shared(averager.values, averager.averages, ReduceOp::avg);
          found.expect(averager.holds(i < 2 ? 9.0 : 12.0), "the average");
        }
      });
      group.barrier();
      found.equal(sums[499], 1, "the last count, on all ranks");
      found.expect(averager.holds(12.0), "the last average, on all ranks");
      return found.text();
    };
    BOOST_TEST(run_world(world, 3, body, options_of(policy)).findings() == "");
  }
}

// Two share the memory of their results, and the hooks shadow them the other way round.
TP_WORLD_TEST(a_result_that_another_call_has_overwritten_is_refused_to_a_hook) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    Findings found;
    Averager early(group, 10, true);
    Averager late(early, group);
    const auto train = [&] {
      with_join({late, early}, {}, [&] {
        if (group.rank() == 0) return;
        early.use();
        late.use();
      });
    };
    if (group.rank() == 0) {
      found.contains(found.throws<InvalidArgument>(train, "the hook of the earlier one"),
                     "has overwritten its result", "the text");
    } else {
      // In its context, if it hasn't left that by then.
      const auto train_and_go_on = [&] {
        train();
        group.barrier();
      };
      found.throws<PeerFailure>(train_and_go_on, "the active rank");
    }
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(memory_is_neither_had_nor_given_back_while_ranks_have_joined) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    Findings found;
    Averager averager(group, 10, false);
    with_join({averager}, {}, [&] {
      averager.use();
      if (group.rank() == 0) return;
      averager.use();
      found.throws<InvalidArgument>([&] { group.allocate_shared<float>(10); }, "allocating");
      found.throws<InvalidArgument>([&] { group.deallocate_shared(averager.averages); },
                                    "deallocating");
    });
    averager.use();
    found.expect(averager.holds(3.0), "the average of all, afterwards");
    group.deallocate_shared(averager.averages);
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::join_tests
