// DistributedDataParallel without a Join context: what becomes of the gradients.

#include "tests/nn/small_model.h"
#include "tests/worlds/world_test.h"

#include <tensorplay/error.h>

#include <numeric>
#include <random>

namespace tensorplay::nn {
namespace {

using distributed::ProcessGroup;
using worlds::Findings;
using worlds::kSanitized;
using worlds::run_world;
using worlds::World;

const std::vector<std::size_t> kCounts = {5, 0, 1, 300, 17, 4000, 1, 33};

// Every gradient must be the mean to the bit.
void expect_means(Findings& found, const SmallModel& model, int world_size, int iteration) {
  for (std::size_t p = 0; p < model.gradients.size(); ++p) {
    for (std::size_t i = 0; i < model.gradients[p].size(); ++i) {
      found.equal(model.gradients[p][i], mean_element(world_size, iteration, p, i),
                  "gradient " + std::to_string(p) + "[" + std::to_string(i) + "]");
    }
  }
}

void check_averaging(World world, int world_size, DistributedDataParallelOptions options) {
  const auto result = run_world(world, world_size, [&](ProcessGroup& group) {
    Findings found;
    SmallModel model(kCounts);
    DistributedDataParallel ddp(model.parameters(), group, options);
    for (int iteration = 0; iteration < 3; ++iteration) {
      ddp.forward();
      model.backward(group.rank(), iteration);
      ddp.synchronize();
      expect_means(found, model, group.size(), iteration);
    }
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE(gradient_averaging)

TP_WORLD_TEST(every_rank_gets_the_mean_to_the_bit) {
  for (int world_size : {1, 2, 3, 4}) check_averaging(world, world_size, {});
}

TP_WORLD_TEST(buckets_of_any_size_give_the_same_bits) {
  for (std::size_t bytes : {0, 4, 64, 1000, 16'000, 1'000'000}) {
    check_averaging(world, 3, {.bucket_bytes = bytes});
  }
}

TP_WORLD_TEST(gradients_may_become_ready_in_another_order_on_each_rank) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    SmallModel model(kCounts);
    DistributedDataParallel ddp(model.parameters(), group, {.bucket_bytes = 256});
    std::vector<std::size_t> order(kCounts.size());
    std::iota(order.begin(), order.end(), 0U);
    std::mt19937 random(static_cast<unsigned>(7 + group.rank()));
    for (int iteration = 0; iteration < 20; ++iteration) {
      std::shuffle(order.begin(), order.end(), random);
      ddp.forward();
      // Some are left to synchronize().
      const std::size_t told = random() % (order.size() + 1);
      for (std::size_t place = 0; place < order.size(); ++place) {
        model.backward(group.rank(), iteration, order[place]);
        if (place < told) ddp.gradient_ready(order[place]);
      }
      ddp.synchronize();
      expect_means(found, model, group.size(), iteration);
    }
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(all_ranks_start_with_the_values_of_rank_0) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    SmallModel model({3, 0, 2}, {2});
    const auto own = static_cast<float>(10 + group.rank());
    for (auto& value : model.values) std::fill(value.begin(), value.end(), own);
    model.set_buffers(own);
    const DistributedDataParallel ddp(model.parameters(), model.model_buffers(), group);
    found.equal(model.values[0][2], 10.0F, "a parameter");
    found.equal(model.values[2][1], 10.0F, "a parameter");
    found.equal(model.buffers[0][1], 10.0F, "a buffer");
    found.equal(ddp.authoritative_rank(), -1, "the authoritative rank");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(buffers_follow_the_highest_rank_at_each_forward) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    SmallModel model({3}, {2, 0, 5});
    DistributedDataParallel ddp(model.parameters(), model.model_buffers(), group);
    for (int iteration = 0; iteration < 4; ++iteration) {
      model.set_buffers(static_cast<float>(100 * group.rank() + iteration));
      ddp.forward();
      found.equal(model.buffers[0][1], static_cast<float>(200 + iteration), "the first buffer");
      found.equal(model.buffers[2][4], static_cast<float>(200 + iteration), "the last buffer");
      ddp.synchronize();
    }
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(buffers_stay_each_ranks_own_if_they_are_not_to_be_broadcast) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    Findings found;
    SmallModel model({3}, {2});
    DistributedDataParallel ddp(model.parameters(), model.model_buffers(), group,
                                {.broadcast_buffers = false});
    model.set_buffers(static_cast<float>(group.rank()));
    ddp.forward();
    ddp.synchronize();
    found.equal(model.buffers[0][0], static_cast<float>(group.rank()), "the buffer");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(a_parameter_that_one_rank_does_not_use_counts_as_zero_there) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    SmallModel model({4, 4});
    DistributedDataParallel ddp(model.parameters(), group);
    ddp.forward();
    model.set_gradients(6.0F);
    if (group.rank() == 1) ddp.gradient_unused(0);
    ddp.synchronize();
    found.equal(model.gradients[0][3], 4.0F, "the gradient that two of three ranks had");
    found.equal(model.gradients[1][3], 6.0F, "the gradient that all had");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(a_parameter_that_no_rank_uses_keeps_its_gradient) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    SmallModel model({4, 4});
    DistributedDataParallel ddp(model.parameters(), group);
    for (int iteration = 0; iteration < 2; ++iteration) {
      ddp.forward();
      model.set_gradients(static_cast<float>(group.rank()));
      ddp.gradient_unused(0);
      ddp.synchronize();
      found.equal(model.gradients[0][3], static_cast<float>(group.rank()), "the unused gradient");
      found.equal(model.gradients[1][3], 1.0F, "the used gradient");
    }
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(without_shared_memory_to_spare_the_results_are_the_same) {
  const auto result = run_world(world, 2,
                                [](ProcessGroup& group) {
                                  Findings found;
                                  SmallModel model({1U << 20, 3});  // 4 MiB of gradients
                                  DistributedDataParallel ddp(model.parameters(), group);
                                  ddp.forward();
                                  model.set_gradients(static_cast<float>(1 + group.rank()));
                                  ddp.synchronize();
                                  found.equal(model.gradients[0].back(), 1.5F, "a gradient");
                                  found.equal(model.gradients[1].back(), 1.5F, "a gradient");
                                  return found.text();
                                },
                                {.arena_bytes = std::size_t{1} << 16});
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(a_model_without_parameters_synchronizes_nothing) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    DistributedDataParallel ddp({}, group);
    ddp.forward();
    ddp.synchronize();
    return ddp.buckets().empty() ? "" : "there are buckets";
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(the_checksum_tells_models_apart) {
  const auto result = run_world(world, 1, [](ProcessGroup& group) {
    Findings found;
    SmallModel model({3}, {2});
    const DistributedDataParallel ddp(model.parameters(), model.model_buffers(), group);
    const std::uint64_t before = ddp.checksum();
    model.buffers[0][1] = -0.0F;
    found.expect(ddp.checksum() != before, "a changed sign changes the checksum");
    model.buffers[0][1] = 0.0F;
    found.equal(ddp.checksum(), before, "the checksum of the same model");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(misuse_is_told_with_the_parameter) {
  const auto result = run_world(world, 1, [](ProcessGroup& group) {
    Findings found;
    SmallModel model({3, 4});
    DistributedDataParallel ddp(model.parameters(), group);
    const auto expect = [&](auto action, const char* part) {
      found.contains(found.throws<InvalidArgument>(action, part), part, "the message");
    };
    expect([&] { ddp.gradient_ready(1); },
           "gradient_ready(1): no iteration has begun, so parameter 'weight1'");
    expect([&] { ddp.gradient_unused(1); }, "gradient_unused(1): no iteration has begun");
    expect([&] { ddp.synchronize(); }, "synchronize(): no iteration has begun");
    ddp.forward();
    ddp.gradient_ready(1);
    expect([&] { ddp.gradient_ready(2); }, "gradient_ready(2): the model has 2 parameters");
    expect([&] { ddp.gradient_ready(1); }, "parameter 'weight1' was told to be ready already");
    expect([&] { ddp.gradient_unused(1); }, "parameter 'weight1' was told to be ready already");
    expect([&] { ddp.forward(); },
           "parameter 1 ('weight1') was told to be ready, but synchronize()");
    ddp.synchronize();
    expect([&] { ddp.synchronize(); }, "synchronize(): no iteration has begun");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(a_gradient_of_another_length_than_its_value_is_refused) {
  const auto result = run_world(world, 1, [](ProcessGroup& group) {
    Findings found;
    std::vector<float> three(3);
    std::vector<float> four(4);
    const std::string text = found.throws<InvalidArgument>(
        [&] {
          DistributedDataParallel ddp({{"w", three, four}}, group);
        },
        "the constructor");
    found.equal(text, "DistributedDataParallel: parameter 0 ('w') has 3 values and 4 gradients",
                "the message");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(a_forward_pass_without_a_backward_pass_is_allowed) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    Findings found;
    SmallModel model({3}, {1});
    DistributedDataParallel ddp(model.parameters(), model.model_buffers(), group);
    for (int iteration = 0; iteration < 3; ++iteration) ddp.forward();
    model.backward(group.rank(), 0);
    ddp.synchronize();
    expect_means(found, model, 2, 0);
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(a_rank_that_fails_between_its_gradients_is_told_to_the_others) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    SmallModel model({300, 300});
    const bool fails = group.rank() == 1;
    const auto train = [&] {
      DistributedDataParallel ddp(model.parameters(), group, {.bucket_bytes = 64});
      ddp.forward();
      ddp.gradient_ready(1);
      if (fails) throw std::runtime_error("no more memory");
      ddp.synchronize();
    };
    if (fails) {
      found.throws<std::runtime_error>(train, "the failing rank");
    } else {
      found.throws<PeerFailure>(train, "the other ranks");
    }
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::nn
