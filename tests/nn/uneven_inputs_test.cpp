// DistributedDataParallel in a Join context: joined ranks sleep, and take over the final model.

#include "tests/nn/small_model.h"
#include "tests/worlds/world_test.h"

#include <tensorplay/distributed/algorithms/join.h>
#include <tensorplay/error.h>
#include <tensorplay/optim/sgd.h>

namespace tensorplay::nn {
namespace {

using distributed::ProcessGroup;
using distributed::algorithms::Join;
using distributed::algorithms::JoinReport;
using optim::SGD;
using worlds::Findings;
using worlds::run_world;

// Whether all ranks hold the same model, told on all.
void expect_equal_models(Findings& found, ProcessGroup& group, const DistributedDataParallel& ddp) {
  std::vector<std::uint64_t> checksums(static_cast<std::size_t>(group.size()));
  const std::uint64_t own = ddp.checksum();
  group.all_gather<std::uint64_t>(std::span(&own, 1), checksums);
  for (std::uint64_t checksum : checksums) found.equal(checksum, own, "another rank's checksum");
}

// An iteration of a model whose gradient is the same number everywhere.
void iterate(DistributedDataParallel& ddp, SmallModel& model, float gradient) {
  ddp.forward();
  model.set_gradients(gradient);
  ddp.synchronize();
}

// Rank 0 has three inputs, the others five, each with the gradient 50.
void check_division(worlds::World world, int world_size, bool by_initial_world_size) {
  const auto result = run_world(world, world_size, [&](ProcessGroup& group) {
    Findings found;
    SmallModel model({1, 7});
    DistributedDataParallel ddp(model.parameters(), group);
    Join join({ddp}, {.kwargs = {{"divide_by_initial_world_size", by_initial_world_size}}});
    const auto world_floats = static_cast<float>(group.size());
    for (int iteration = 0; iteration < (group.rank() == 0 ? 3 : 5); ++iteration) {
      iterate(ddp, model, 50.0F);
      const bool reduced = by_initial_world_size && iteration >= 3;
      const float expected = reduced ? 50.0F * (world_floats - 1) / world_floats : 50.0F;
      found.equal(model.gradients[1][6], expected, "iteration " + std::to_string(iteration));
    }
    join.finish();
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE(uneven_inputs)

TP_WORLD_TEST(gradients_are_divided_by_the_initial_world_size) {
  for (int world_size : {2, 3, 4}) check_division(world, world_size, true);
}

TP_WORLD_TEST(or_by_the_ranks_that_are_active) {
  for (int world_size : {2, 3, 4}) check_division(world, world_size, false);
}

TP_WORLD_TEST(either_divisor_gives_the_published_averages_of_one_two_and_three_inputs) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    const float expected[2][3] = {{12, 8, 4}, {12, 12, 12}};
    SmallModel model({2});
    DistributedDataParallel ddp(model.parameters(), group);
    for (int effective = 0; effective < 2; ++effective) {
      Join join({ddp}, {.kwargs = {{"divide_by_initial_world_size", effective == 0}}});
      for (int iteration = 0; iteration <= group.rank(); ++iteration) {
        iterate(ddp, model, 12.0F);
        found.equal(model.gradients[0][0], expected[effective][iteration], "the average");
      }
    }
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(the_model_equals_one_trained_alone_on_all_inputs) {
  for (int world_size : {2, 3, 4}) {
    const auto result = run_world(world, world_size, [](ProcessGroup& group) {
      Findings found;
      const int size = group.size();
      SmallModel model({4, 9});
      DistributedDataParallel ddp(model.parameters(), group, {.bucket_bytes = 16});
      SGD optimizer(model.tensors(), {.learning_rate = 0.03 * size});
      {
        Join join({ddp}, {});
        for (int i = 0; i < 2 * (group.rank() + 1); ++i) {
          iterate(ddp, model, 0.25F);
          optimizer.step();
        }
      }
      SmallModel alone({4, 9});
      SGD alone_optimizer(alone.tensors(), {.learning_rate = 0.03});
      alone.set_gradients(0.25F);
      for (int i = 0; i < size * (size + 1); ++i) alone_optimizer.step();
      for (std::size_t p : {0U, 1U}) {
        const float difference = std::abs(model.values[p][3] - alone.values[p][3]);
        found.expect(difference < 1e-5F, "close to the model trained alone");
      }
      expect_equal_models(found, group, ddp);
      return found.text();
    });
    BOOST_TEST(result.findings() == "");
  }
}

TP_WORLD_TEST(the_last_joiner_with_the_greatest_rank_is_authoritative_on_all_ranks) {
  struct Case {
    std::vector<int> inputs;
    int authoritative;
  };
  const Case cases[] = {{{1, 4, 2}, 1}, {{3, 3, 3}, 2}, {{5, 1, 5}, 2},
                        {{5, 5, 1}, 1}, {{0, 0, 0}, 2}, {{2, 0, 0}, 0}};
  for (const Case& expected : cases) {
    const auto result = run_world(world, 3, [&](ProcessGroup& group) {
      Findings found;
      SmallModel model({6, 3}, {4});
      DistributedDataParallel ddp(model.parameters(), model.model_buffers(), group);
      SGD optimizer(model.tensors(), {.learning_rate = 0.1, .momentum = 0.9});
      Join join({ddp}, {});
      const int inputs = expected.inputs[static_cast<std::size_t>(group.rank())];
      for (int i = 0; i < inputs; ++i) {
        ddp.forward();
        model.set_buffers(static_cast<float>(1000 * group.rank() + i));
        model.backward(group.rank(), i);
        ddp.synchronize();
        optimizer.step();
      }
      const JoinReport report = join.finish();
      found.equal(ddp.authoritative_rank(), expected.authoritative, "the authoritative rank");
      found.equal(report.authoritative_rank, expected.authoritative, "that of the report");
      expect_equal_models(found, group, ddp);
      const int last = expected.inputs[static_cast<std::size_t>(expected.authoritative)];
      const float buffer =
          last == 0 ? 0 : static_cast<float>(1000 * expected.authoritative + last - 1);
      found.equal(model.buffers[0][3], buffer, "the buffer");
      return found.text();
    });
    BOOST_TEST(result.findings() == "");
  }
}

TP_WORLD_TEST(buffers_follow_the_highest_active_rank) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    SmallModel model({2}, {3});
    DistributedDataParallel ddp(model.parameters(), model.model_buffers(), group);
    Join join({ddp}, {});
    // Rank 2 leaves after two iterations, rank 1 after four, rank 0 after six.
    for (int i = 0; i < 6 - 2 * group.rank(); ++i) {
      model.set_buffers(static_cast<float>(group.rank()));
      iterate(ddp, model, 1.0F);
      found.equal(model.buffers[0][2], static_cast<float>(2 - i / 2), "the buffer");
    }
    join.finish();
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(the_divisor_of_a_context_does_not_outlive_it) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    Findings found;
    SmallModel model({2});
    SmallModel other({2});
    DistributedDataParallel ddp(model.parameters(), group);
    DistributedDataParallel other_ddp(other.parameters(), group);
    {
      Join join({ddp}, {.kwargs = {{"divide_by_initial_world_size", false}}});
      for (int i = 0; i < 1 + group.rank(); ++i) iterate(ddp, model, 8.0F);
      found.equal(model.gradients[0][0], 8.0F, "the average in its context");
    }
    // A context that the first model isn't part of.
    Join join({other_ddp}, {});
    for (int i = 0; i < 1 + group.rank(); ++i) {
      iterate(other_ddp, other, 8.0F);
      iterate(ddp, model, 8.0F);
    }
    join.finish();
    if (group.rank() == 1) found.equal(model.gradients[0][0], 4.0F, "the last average");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

// Two epochs with momentum: an uneven one, then an even one. The state that the authoritative rank
// broadcasts in between makes every rank go on as that rank would.
TP_WORLD_TEST(a_broadcast_state_makes_the_next_epoch_equal_on_all_ranks) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    SmallModel model({5, 2});
    DistributedDataParallel ddp(model.parameters(), group);
    SGD optimizer(model.tensors(), {.learning_rate = 0.1, .momentum = 0.9, .dampening = 0.5});
    const auto train = [&](int inputs) {
      Join join({ddp}, {});
      for (int i = 0; i < inputs; ++i) {
        ddp.forward();
        model.backward(group.rank(), i);
        ddp.synchronize();
        optimizer.step();
      }
      join.finish();
    };
    train(2 * group.rank());  // rank 0 has never stepped
    for (auto part : optimizer.state()) group.broadcast(part, ddp.authoritative_rank());
    for (int i = 0; i < 3; ++i) {
      ddp.forward();
      model.backward(group.rank(), i);
      ddp.synchronize();
      optimizer.step();
      expect_equal_models(found, group, ddp);
    }
    found.equal(optimizer.state().back()[0], 7.0F, "the number of steps");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(a_rank_may_evaluate_inside_the_context_on_its_own) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    SmallModel model({5}, {1});
    DistributedDataParallel ddp(model.parameters(), model.model_buffers(), group);
    Join join({ddp}, {});
    float seen = 0;
    for (int i = 0; i < 2 + group.rank(); ++i) {
      iterate(ddp, model, 1.0F);
      // No forward(): nothing is sent, however often.
      for (int sample = 0; sample < group.rank() + i; ++sample) seen += model.values[0][0];
    }
    join.finish();
    expect_equal_models(found, group, ddp);
    found.expect(seen >= 0, "the model was read");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(two_models_share_a_context) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    SmallModel generator({5}, {2});
    SmallModel critic({3, 4});
    DistributedDataParallel first(generator.parameters(), generator.model_buffers(), group);
    DistributedDataParallel second(critic.parameters(), group);
    Join join({first, second}, {.kwargs = {{"divide_by_initial_world_size", false}}});
    for (int i = 0; i < 2 + 2 * group.rank(); ++i) {
      iterate(first, generator, 3.0F);
      for (int part = 0; part <= i % 3; ++part) iterate(second, critic, 5.0F);
      found.equal(generator.gradients[0][4], 3.0F, "the first model's average");
      found.equal(critic.gradients[1][3], 5.0F, "the second model's average");
    }
    join.finish();
    expect_equal_models(found, group, first);
    expect_equal_models(found, group, second);
    found.equal(first.authoritative_rank(), 2, "the first model's authoritative rank");
    found.equal(second.authoritative_rank(), 2, "the second model's authoritative rank");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(early_termination_leaves_the_group_and_the_model_whole) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    SmallModel model({4}, {2});
    DistributedDataParallel ddp(model.parameters(), model.model_buffers(), group);
    int done = 0;
    found.throws<EarlyTermination>(
        [&] {
          Join join({ddp}, {.throw_on_early_termination = true});
          for (; done < 3 + group.rank(); ++done) iterate(ddp, model, 1.0F);
          join.finish();
        },
        "the context");
    found.equal(done, 3, "the number of iterations");
    iterate(ddp, model, static_cast<float>(group.rank()));
    found.equal(model.gradients[0][0], 1.0F, "the average afterwards");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(a_loop_may_be_left_before_its_iteration_is_over) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    Findings found;
    SmallModel model({4}, {2});
    DistributedDataParallel ddp(model.parameters(), model.model_buffers(), group);
    {
      Join join({ddp}, {.kwargs = {{"divide_by_initial_world_size", false}}});
      for (int i = 0; i < 4; ++i) {
        ddp.forward();
        if (group.rank() == 0 && i == 1) break;
        model.set_gradients(static_cast<float>(1 + group.rank()));
        ddp.synchronize();
        found.equal(model.gradients[0][0], i == 0 ? 1.5F : 2.0F, "the average");
      }
    }
    iterate(ddp, model, static_cast<float>(group.rank()));
    found.equal(model.gradients[0][0], 0.5F, "the average afterwards");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::nn
