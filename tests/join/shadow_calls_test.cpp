// Shadow calls other than all-reduces: roots that have joined, asynchronous ones, hooks that fail.

#include "tests/join/joinables.h"
#include "tests/worlds/world_test.h"

#include <stdexcept>
#include <string>

namespace tensorplay::join_tests {
namespace {

using worlds::Findings;
using worlds::run_world;

// Every rank owns a part of the parameters: it steps that part, on every rank's gradients, and
// broadcasts it. A sharded optimizer in small.
class ShardedStep : public Joinable {
 public:
  ShardedStep(ProcessGroup group, std::size_t shard)
      : parameters(static_cast<std::size_t>(group.size()) * shard),
        gradients(parameters.size()),
        group_(std::move(group)),
        shard_(shard) {}

  // `gradient` is this rank's, for all parameters.
  void step(double gradient) {
    Join::notify_join_context(*this);
    gradients.assign(parameters.size(), gradient);
    reduce_step_and_publish();
  }

  std::unique_ptr<JoinHook> join_hook(const JoinKwargs&) override {
    return std::make_unique<MainHook>([this] { reduce_step_and_publish(); }, nullptr);
  }
  ProcessGroup& join_process_group() override { return group_; }

  std::vector<double> parameters;
  std::vector<double> gradients;

 private:
  void reduce_step_and_publish() {
    group_.all_reduce(std::span(gradients));
    const std::span<double> all(parameters);
    const auto part = [&](int rank) {
      return all.subspan(static_cast<std::size_t>(rank) * shard_, shard_);
    };
    for (double& parameter : part(group_.rank())) parameter -= gradients[0];
    std::vector<Work> works;
    for (int root = 0; root < group_.size(); ++root) {
      works.push_back(group_.broadcast_async(part(root), root));
    }
    for (Work& work : works) work.wait();
  }

  ProcessGroup group_;
  std::size_t shard_;
};

BOOST_AUTO_TEST_SUITE(shadow_calls)

TP_WORLD_TEST(a_joined_root_supplies_what_its_hook_broadcasts) {
  const std::vector<int> inputs = {4, 1, 0};
  for (std::size_t shard : {1u, 600u, 30'000u}) {
    const auto result = run_world(world, 3, [&](ProcessGroup& group) {
      Findings found;
      ShardedStep optimizer(group, shard);
      with_join({optimizer}, {}, [&] {
        for (int i = 0; i < own(inputs, group); ++i) optimizer.step(group.rank() + 1);
      });
      // Gradients: 1 + 2 in the first iteration, 1 in the three others.
      for (double parameter : optimizer.parameters) found.equal(parameter, -6.0, "a parameter");
      return found.text();
    });
    BOOST_TEST_CONTEXT(shard << " elements") {
      BOOST_TEST(result.findings() == "");
    }
  }
}

TP_WORLD_TEST(a_joined_root_supplies_also_if_another_joinable_is_listed_first) {
  const std::vector<int> inputs = {4, 1, 0};
  const auto result = run_world(world, 3, [&](ProcessGroup& group) {
    Findings found;
    Mirror mirror(group, 6);
    ShardedStep optimizer(group, 50);
    with_join({mirror, optimizer}, {}, [&] {
      for (int i = 0; i < own(inputs, group); ++i) {
        optimizer.step(group.rank() + 1);
        mirror.use();
      }
    });
    for (double parameter : optimizer.parameters) found.equal(parameter, -6.0, "a parameter");
    found.expect(mirror.history == history_of(inputs), "the mirror's history is whole");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(a_joined_root_in_step_receives_what_is_reduced_or_gathered_to_it) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    std::vector<float> sum(10), all(30, -1.0f);
    const auto collect = [&](ProcessGroup& through, float value) {
      sum.assign(10, value);
      through.reduce(std::span(sum), 0);
      std::vector<float> mine(10, value);
      through.gather<float>(mine, all, 0);
    };
    Scripted collector(group, [&](ProcessGroup& through) { collect(through, 100.0f); });
    with_join({collector}, {}, [&] {
      for (int i = 0; i < group.rank(); ++i) {  // rank 0 has no inputs
        collector.notify();
        collect(collector.group(), static_cast<float>(group.rank()));
      }
    });
    if (group.rank() == 0) {
      found.equal(sum[9], 2.0f, "the sum of the last iteration, of rank 2 alone");
      found.equal(all[0], 0.0f, "rank 0's own block: it contributes nothing");
      found.equal(all[10], 0.0f, "the block of rank 1, which had joined");
      found.equal(all[20], 2.0f, "the block of rank 2");
    }
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(a_joined_root_in_step_supplies_what_is_scattered) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    std::vector<std::int32_t> one(4);
    const auto scatter = [&](ProcessGroup& through) {
      const std::vector<std::int32_t> all = {1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
      through.scatter<std::int32_t>(all, one, 1);
    };
    Scripted source(group, scatter);
    with_join({source}, {}, [&] {
      for (int i = 0; i < (group.rank() == 1 ? 0 : 3); ++i) {
        source.notify();
        one.assign(4, 0);
        scatter(source.group());
        found.equal(one[3], group.rank() + 1, "the block");
      }
    });
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(shadow_calls_can_be_asynchronous_and_waited_for_in_any_order) {
  const std::vector<int> inputs = {1, 5, 3};
  const auto result = run_world(world, 3, [&](ProcessGroup& group) {
    Findings found;
    std::vector<float> a(5), b(3'000), c(70'000);
    const auto reduce_all = [&](ProcessGroup& through, float value) {
      a.assign(a.size(), value);
      b.assign(b.size(), value);
      c.assign(c.size(), value);
      Work first = through.all_reduce_async(std::span(a));
      Work second = through.all_reduce_async(std::span(b));
      Work third = through.all_reduce_async(std::span(c), ReduceOp::max);
      third.wait();
      first.wait();
      second.wait();
    };
    int shadowed = 0;
    Scripted model(group, [&](ProcessGroup& through) {
      reduce_all(through, 50.0f);
      ++shadowed;
      const int iteration = own(inputs, group) + shadowed - 1;
      const auto active = static_cast<float>(active_at(inputs, iteration).count());
      found.equal(a.back(), active, "the small sum");
      found.equal(b.back(), active, "the larger sum");
      found.equal(c.back(), 1.0f, "the maximum");
    });
    with_join({model}, {}, [&] {
      for (int i = 0; i < own(inputs, group); ++i) {
        model.notify();
        reduce_all(model.group(), 1.0f);
      }
    });
    found.equal(shadowed, 5 - own(inputs, group), "main hooks run");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(post_hooks_make_ordinary_collectives_in_list_order) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    std::string order;
    const auto post = [&](const char* letter) {
      return [&, letter](ProcessGroup& all, bool) {
        order += letter;
        std::int64_t one = 1;
        found.equal(all.all_reduce(std::span(&one, 1)).count(), 3, "contributors");
      };
    };
    Scripted a(group, {}, post("a")), b(group, {}, post("b")), c(group, {}, post("c"));
    with_join({b, a, c}, {}, [&] {
      for (int i = 0; i < group.rank(); ++i) a.notify();
    });
    found.equal(order, "bac", "the order of the post hooks");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(main_hooks_run_in_list_order) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    Findings found;
    std::string order;
    Scripted a(group, [&](ProcessGroup&) { order += "a"; });
    Scripted b(group, [&](ProcessGroup&) { order += "b"; });
    with_join({b, a}, {}, [&] {
      for (int i = 0; i < 2 * group.rank(); ++i) {
        a.notify();
        b.notify();
      }
    });
    found.equal(order, group.rank() == 0 ? "baba" : "", "the order of the main hooks");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(an_exception_of_a_main_hook_reaches_the_active_ranks) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) -> std::string {
    Scripted model(group, [&](ProcessGroup&) { throw std::runtime_error("out of tune"); });
    with_join({model}, {}, [&] {
      for (int i = 0; i < (group.rank() == 1 ? 0 : 1'000'000); ++i) {
        model.notify();
        float value = 1;
        group.all_reduce(std::span(&value, 1));
      }
    });
    return "nothing was thrown";
  });
  BOOST_TEST(result.ranks[1].findings == "runtime_error: out of tune");
  for (std::size_t rank : {0u, 2u}) {
    const std::string& text = result.ranks[rank].findings;
    BOOST_TEST_CONTEXT(text) {
      BOOST_TEST(text.starts_with("PeerFailure: "));
      BOOST_TEST(text.find("rank 1") != std::string::npos);
    }
  }
}

TP_WORLD_TEST(an_exception_of_a_post_hook_reaches_the_other_ranks) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) -> std::string {
    Scripted model(group, {}, [](ProcessGroup& all, bool) {
      if (all.rank() == 0) throw std::runtime_error("no encore");
      all.barrier();
    });
    with_join({model}, {}, [&] { model.notify(); });
    return "nothing was thrown";
  });
  BOOST_TEST(result.ranks[0].findings == "runtime_error: no encore");
  BOOST_TEST(result.ranks[1].findings.starts_with("PeerFailure: "));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::join_tests
