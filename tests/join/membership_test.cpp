// Who contributes: the active ranks, the same on every rank, in every collective.

#include "tests/conformance/operation.h"
#include "tests/conformance/plan.h"
#include "tests/join/joinables.h"
#include "tests/worlds/world_test.h"

#include <algorithm>
#include <string>

namespace tensorplay::join_tests {
namespace {

using conformance::all_kinds;
using conformance::Case;
using distributed::CollectiveKind;
using worlds::Findings;
using worlds::run_world;

// Makes that collective and compares everything it did with what the active ranks' values give.
void make(Findings& found, ProcessGroup& group, const Case& one, const Contributors& active) {
  const auto operation = conformance::make_operation(group, one);
  operation->start();
  found.equal(operation->finish(active), "", to_string(one));
}

BOOST_AUTO_TEST_SUITE(membership)

TP_WORLD_TEST(every_collective_in_the_loop_leaves_joined_ranks_out) {
  const std::vector<int> inputs = {2, 5, 1, 3};
  const auto result = run_world(world, 4, [&](ProcessGroup& group) {
    Findings found;
    Counter counter(group);
    Join join({counter}, {});
    for (int i = 0; i < own(inputs, group); ++i) {
      const Contributors active = active_at(inputs, i);
      counter.count();
      for (CollectiveKind kind : all_kinds()) {
        for (std::size_t count : {0u, 1u, 7u, 900u, 5'000u, 40'000u}) {
          const auto salt = static_cast<std::uint64_t>(i);
          make(found, group, {.kind = kind, .root = 1, .count = count, .salt = salt}, active);
        }
      }
    }
    join.finish();
    make(found, group, {.kind = CollectiveKind::all_reduce, .count = 9}, conformance::everyone(4));
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(every_reduction_leaves_missing_values_out) {
  const std::vector<int> inputs = {0, 1, 1};
  const auto result = run_world(world, 3, [&](ProcessGroup& group) {
    Findings found;
    Counter counter(group);
    Join join({counter}, {});
    for (int i = 0; i < own(inputs, group); ++i) {
      for (Case one : conformance::every_reduction(3)) {
        if (one.root == 0) one.root = 1;
        make(found, group, one, active_at(inputs, i));
      }
    }
    join.finish();
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(an_average_divides_by_the_ranks_that_contributed) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    Counter counter(group);
    Join join({counter}, {});
    for (int i = 0; i < (group.rank() == 0 ? 1 : 2); ++i) {
      float value = static_cast<float>(group.rank() * 12);
      group.all_reduce(std::span(&value, 1), ReduceOp::avg);
      found.equal(value, i == 0 ? 12.0f : 18.0f, "the average");
      float least = static_cast<float>(group.rank() + 1);
      group.all_reduce(std::span(&least, 1), ReduceOp::min);
      found.equal(least, i == 0 ? 1.0f : 2.0f, "the minimum");
    }
    join.finish();
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(a_root_that_has_joined_is_an_error_on_all_active_ranks_and_they_go_on) {
  const auto result = run_world(world, 4, [](ProcessGroup& group) {
    std::string texts;
    Counter counter(group);
    Join join({counter}, {});
    for (int i = 0; i < (group.rank() == 2 ? 0 : 3); ++i) {
      std::vector<float> one(5), all(20);
      const std::vector<std::function<void()>> calls = {
          [&] { group.broadcast(std::span(one), 2); }, [&] { group.scatter<float>(all, one, 2); },
          [&] { group.reduce(std::span(one), 2); }, [&] { group.gather<float>(one, all, 2); },
          [&] { group.broadcast_async(std::span(one), 2).wait(); }};
      for (const auto& call : calls) {
        Findings found;
        texts += found.throws<InvalidArgument>(call, "a collective with a joined root") + "\n";
        texts += found.text();
      }
      counter.count();
      texts += std::to_string(counter.last) + "\n";
    }
    join.finish();
    return texts;
  });
  const std::string& text = result.ranks[0].findings;
  BOOST_TEST(text.find("rank 2") != std::string::npos);
  BOOST_TEST(text.find("joined") != std::string::npos);
  BOOST_TEST(text.find("threw") == std::string::npos);
  BOOST_TEST(text.find("Mismatch") == std::string::npos);
  BOOST_TEST(text.ends_with("\n3\n"));
  BOOST_TEST(result.ranks[1].findings == text);
  BOOST_TEST(result.ranks[3].findings == text);
  BOOST_TEST(result.ranks[2].findings == "");
}

// Nobody catches it: still each active rank has this error, not that another one left.
TP_WORLD_TEST(a_root_that_has_joined_is_one_error_on_all_active_ranks_that_it_ends) {
  const auto result = run_world(world, 4, [](ProcessGroup& group) -> std::string {
    Counter counter(group);
    with_join({counter}, {}, [&] {
      if (group.rank() == 2) return;
      counter.count();
      float value = 1;
      group.broadcast(std::span(&value, 1), 2);
    });
    return "nothing was thrown";
  });
  const std::string& text = result.ranks[0].findings;
  BOOST_TEST(text.starts_with("InvalidArgument: "));
  BOOST_TEST(result.ranks[1].findings == text);
  BOOST_TEST(result.ranks[3].findings == text);
  BOOST_TEST(result.ranks[2].findings.starts_with("PeerFailure: "));
}

TP_WORLD_TEST(a_notification_tells_how_many_ranks_are_active) {
  const std::vector<int> inputs = {3, 7, 5, 0};
  const auto result = run_world(world, 4, [&](ProcessGroup& group) {
    Findings found;
    Counter counter(group);
    Join join({counter}, {});
    std::optional<Work> earlier;
    for (int i = 0; i < own(inputs, group); ++i) {
      counter.count();
      found.expect(counter.work.has_value(), "the first Joinable gets a work");
      found.equal(counter.work->result(), active_at(inputs, i).count(), "the active ranks");
    }
    join.finish();
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(the_number_of_active_ranks_can_be_asked_for_later) {
  const std::vector<int> inputs = {1, 6};
  const auto result = run_world(world, 2, [&](ProcessGroup& group) {
    Findings found;
    Counter counter(group);
    Join join({counter}, {});
    std::optional<Work> earlier;
    for (int i = 0; i < own(inputs, group); ++i) {
      counter.count();
      if (earlier) {
        found.equal(earlier->result(), active_at(inputs, i - 1).count(), "the active ranks");
      }
      earlier = counter.work;
    }
    join.finish();
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(only_the_first_joinable_gets_a_work) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    Findings found;
    Scripted first(group), second(group);
    Join join({first, second}, {});
    found.expect(!second.notify().has_value(), "none for the second");
    found.expect(first.notify().has_value(), "one for the first");
    join.finish();
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(iterations_without_collectives_wait_for_nobody) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    Scripted model(group);
    const int inputs = group.rank() * 5'000;
    const JoinReport report = with_join({model}, {}, [&] {
      for (int i = 0; i < inputs; ++i) model.notify();
    });
    found.equal(report.ranks[1].iterations, 5'000, "rank 1's iterations");
    found.equal(report.ranks[0].shadowed, 10'000, "rank 0's shadowed iterations");
    found.equal(report.authoritative_rank, 2, "the last joiner");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(a_loop_that_never_notifies_may_be_uneven_too) {
  const std::vector<int> inputs = {4, 0, 2};
  const auto result = run_world(world, 3, [&](ProcessGroup& group) {
    Findings found;
    Scripted unused(group);
    Join join({unused}, {});
    for (int i = 0; i < own(inputs, group); ++i) {
      std::int64_t one = 1;
      group.all_reduce(std::span(&one, 1));
      found.equal(one, active_at(inputs, i).count(), "the sum of ones");
    }
    join.finish();
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(joinables_can_be_called_in_any_order_any_number_of_times) {
  const std::vector<int> inputs = {6, 2, 4};
  const auto result = run_world(world, 3, [&](ProcessGroup& group) {
    Findings found;
    Counter a(group), b(group), c(group);
    Join join({a, b, c}, {});
    for (int i = 0; i < own(inputs, group); ++i) {
      std::vector<Counter*> calls = {&b, &a, &a};
      if (i % 2 == 0) calls = {&a, &c, &b, &c};  // as every rank does in its iteration i
      for (Counter* one : calls) {
        const Contributors who = one->count();
        found.equal(to_string(who), to_string(active_at(inputs, i)), "the contributors");
      }
    }
    join.finish();
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(operations_under_way_when_a_rank_joins_still_have_its_part) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    Counter counter(group);
    std::vector<float> small(3, 1.0f), large(100'000, 1.0f);
    Work first, second;
    {
      Join join({counter}, {});
      first = group.all_reduce_async(std::span(small));
      second = group.all_reduce_async(std::span(large));
      if (group.rank() > 0) counter.count();  // rank 0 joins with both under way
    }
    found.equal(first.wait().count(), 3, "the contributors of the small one");
    found.equal(second.wait().count(), 3, "the contributors of the large one");
    found.equal(small[2], 3.0f, "the small sum");
    found.equal(large[99'999], 3.0f, "the large sum");
    if (group.rank() > 0) found.equal(counter.last, 2, "the count without rank 0");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::join_tests
