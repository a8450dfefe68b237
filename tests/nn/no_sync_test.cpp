// DistributedDataParallel::no_sync(): gradients accumulate before they are averaged.

#include "tests/nn/small_model.h"
#include "tests/worlds/world_test.h"

#include <tensorplay/distributed/algorithms/join.h>

#include <optional>

namespace tensorplay::nn {
namespace {

using distributed::ProcessGroup;
using distributed::algorithms::Join;
using worlds::Findings;
using worlds::run_world;

void accumulate(SmallModel& model, float gradient) {
  for (auto& values : model.gradients) {
    for (float& value : values) value += gradient;
  }
}

BOOST_AUTO_TEST_SUITE(no_sync)

TP_WORLD_TEST(gradients_accumulate_until_the_first_iteration_after_it) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    Findings found;
    SmallModel model({3, 2});
    DistributedDataParallel ddp(model.parameters(), group);
    const auto rank = static_cast<float>(group.rank());
    for (int round = 0; round < 3; ++round) {
      model.set_gradients(0.0F);
      {
        const auto guard = ddp.no_sync();
        for (int i = 0; i < 2; ++i) {
          ddp.forward();
          accumulate(model, 1 + rank);
          ddp.gradient_ready(0);
          if (i == 0) ddp.synchronize();  // not needed, and nothing is sent
        }
        found.equal(model.gradients[0][0], 2 + 2 * rank, "the gradient under no_sync");
      }
      ddp.forward();
      accumulate(model, 1 + rank);
      ddp.synchronize();
      found.equal(model.gradients[0][0], 4.5F, "the average of three iterations");
      found.equal(model.gradients[1][1], 4.5F, "the average of three iterations");
    }
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(guards_nest) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    Findings found;
    SmallModel model({3});
    DistributedDataParallel ddp(model.parameters(), group);
    {
      const auto outer = ddp.no_sync();
      { const auto inner = ddp.no_sync(); }
      ddp.forward();
      model.set_gradients(static_cast<float>(group.rank()));
      ddp.synchronize();
      found.equal(model.gradients[0][0], static_cast<float>(group.rank()), "the gradient");
    }
    ddp.forward();
    ddp.synchronize();
    found.equal(model.gradients[0][0], 0.5F, "the average");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(what_was_accumulated_counts_though_the_last_iteration_does_not_use_the_parameter) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    Findings found;
    SmallModel model({3, 3});
    DistributedDataParallel ddp(model.parameters(), group);
    for (int round = 0; round < 2; ++round) {
      model.set_gradients(0.0F);
      {
        const auto guard = ddp.no_sync();
        ddp.forward();
        model.gradients[0].assign(3, static_cast<float>(4 + group.rank()));
        ddp.gradient_unused(1);
      }
      ddp.forward();
      ddp.gradient_unused(0);
      ddp.gradient_unused(1);
      ddp.synchronize();
      found.equal(model.gradients[0][0], 4.5F, "the accumulated gradient");
    }
    model.set_gradients(static_cast<float>(7 + group.rank()));
    ddp.forward();
    ddp.gradient_unused(0);
    ddp.synchronize();
    found.equal(model.gradients[0][0], static_cast<float>(7 + group.rank()), "what nobody had");
    found.equal(model.gradients[1][0], 7.5F, "what all had");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(buffers_are_not_synchronised_after_an_iteration_that_was_not) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    Findings found;
    SmallModel model({3}, {1});
    DistributedDataParallel ddp(model.parameters(), model.model_buffers(), group);
    const auto rank = static_cast<float>(group.rank());
    const auto forward = [&](float expected) {
      model.set_buffers(rank);
      ddp.forward();
      found.equal(model.buffers[0][0], expected, "the buffer");
    };
    {
      const auto guard = ddp.no_sync();
      forward(1.0F);
      forward(rank);
    }
    forward(rank);
    ddp.synchronize();
    forward(1.0F);
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

// Rank 0 leaves in the middle of an accumulation, rank 1 goes on.
TP_WORLD_TEST(what_a_joining_rank_has_accumulated_counts_after_the_context) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    Findings found;
    SmallModel model({3}, {2});
    DistributedDataParallel ddp(model.parameters(), model.model_buffers(), group);
    const auto iterate = [&](int i) {
      std::optional<DistributedDataParallel::NoSync> guard;
      if (i % 2 == 0) guard.emplace(ddp);
      ddp.forward();
      accumulate(model, 1.0F);
      ddp.synchronize();
    };
    {
      Join join({ddp}, {});
      for (int i = 0; i < (group.rank() == 0 ? 3 : 6); ++i) {
        iterate(i);
        if (i == 1) found.equal(model.gradients[0][0], 2.0F, "the average of both");
        if (i == 3 || i == 5) found.equal(model.gradients[0][0], 1.0F, "half of rank 1's");
        if (i % 2 == 1) model.set_gradients(0.0F);
      }
    }
    // One accumulated iteration of rank 0 is left; the ranks agree on when buffers travel.
    found.equal(model.gradients[0][0], group.rank() == 0 ? 1.0F : 0.0F, "what is left");
    iterate(1);
    found.equal(model.gradients[0][0], 1.5F, "the average with what was left");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::nn
