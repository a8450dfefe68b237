// DistributedDataParallel with the Join argument "follow": joined ranks hold the same model and the
// same optimizer state at all times.

#include "lib/nn/fnv.h"
#include "tests/nn/small_model.h"
#include "tests/worlds/world_test.h"

#include <tensorplay/distributed/algorithms/join.h>
#include <tensorplay/optim/adam.h>
#include <tensorplay/optim/sgd.h>

#include <memory>
#include <optional>

namespace tensorplay::nn {
namespace {

using distributed::ProcessGroup;
using distributed::algorithms::Join;
using distributed::algorithms::JoinOptions;
using worlds::Findings;
using worlds::run_world;

// A rank's training, with a record of what it held after each step.
class Training {
 public:
  using MakeOptimizer = std::unique_ptr<optim::Optimizer> (*)(std::vector<optim::Tensor>);

  Training(ProcessGroup& group, MakeOptimizer make)
      : group_(group),
        model_({40, 3, 90}, {4, 1}),
        optimizer_(make(model_.tensors())),
        ddp_(model_.parameters(), model_.model_buffers(), group,
             {.on_shadowed_iteration = [this] { step(); }, .bucket_bytes = 200}) {}

  // Gradients are cleared before each iteration, as is usual. The buffers change with the data.
  void iterate(int iteration) {
    begin();
    finish(iteration);
  }
  void begin() {
    model_.set_gradients(0.0F);
    ddp_.forward();
  }
  void finish(int iteration) {
    model_.backward(group_.rank(), iteration);
    model_.buffers[0][iteration % 4] += static_cast<float>(group_.rank() + 1);
    ddp_.synchronize();
    step();
  }

  void step() {
    optimizer_->step();
    std::uint64_t hash = kFnvBasis;
    for (const auto& value : model_.values) hash = fnv1a(std::as_bytes(std::span(value)), hash);
    for (const auto part : optimizer_->state()) hash = fnv1a(std::as_bytes(part), hash);
    record_.push_back(hash);
  }

  // Every rank must have recorded the same.
  void expect_equal_records(Findings& found, std::size_t steps) {
    found.equal(record_.size(), steps, "the number of steps");
    record_.resize(steps);
    const auto size = static_cast<std::size_t>(group_.size());
    std::vector<std::uint64_t> all(steps * size);
    group_.all_gather<std::uint64_t>(record_, all);
    for (std::size_t i = 0; i < all.size(); ++i) {
      found.equal(all[i], record_[i % steps],
                  "the hash of rank " + std::to_string(i / steps) + " after step " +
                      std::to_string(i % steps));
    }
  }

  SmallModel& model() { return model_; }
  DistributedDataParallel& ddp() { return ddp_; }

 private:
  ProcessGroup& group_;
  SmallModel model_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  DistributedDataParallel ddp_;
  std::vector<std::uint64_t> record_;
};

std::unique_ptr<optim::Optimizer> with_momentum(std::vector<optim::Tensor> tensors) {
  const optim::SGDOptions options = {.learning_rate = 0.1, .momentum = 0.9, .weight_decay = 0.01};
  return std::make_unique<optim::SGD>(std::move(tensors), options);
}

std::unique_ptr<optim::Optimizer> with_moments(std::vector<optim::Tensor> tensors) {
  return std::make_unique<optim::Adam>(std::move(tensors), optim::AdamOptions{});
}

JoinOptions following_options(bool by_initial_world_size = true) {
  return {.kwargs = {{"follow", true}, {"divide_by_initial_world_size", by_initial_world_size}}};
}

BOOST_AUTO_TEST_SUITE(following)

TP_WORLD_TEST(parameters_and_optimizer_state_are_equal_after_every_step) {
  for (const auto make : {&with_momentum, &with_moments}) {
    for (const bool by_initial_world_size : {true, false}) {
      const auto result = run_world(world, 3, [&](ProcessGroup& group) {
        Findings found;
        Training training(group, make);
        for (int epoch = 0; epoch < 2; ++epoch) {
          Join join({training.ddp()}, following_options(by_initial_world_size));
          // Rank 2 has no input in the first epoch, rank 0 none in the second one.
          const int inputs = 3 * (epoch == 0 ? 2 - group.rank() : group.rank());
          for (int i = 0; i < inputs; ++i) training.iterate(i);
        }
        training.expect_equal_records(found, 12);
        return found.text();
      });
      BOOST_TEST(result.findings() == "");
    }
  }
}

TP_WORLD_TEST(a_following_rank_receives_gradients_and_buffers) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    SmallModel model({2, 3}, {2});
    int shadowed = 0;
    DistributedDataParallelOptions options;
    options.on_shadowed_iteration = [&] {
      ++shadowed;
      found.equal(model.gradients[0][1], 4.0F, "the gradient that two of three ranks had");
      found.equal(model.gradients[1][2], 0.0F, "the gradient that no rank had");
      found.equal(model.buffers[0][1], static_cast<float>(20 + shadowed), "the buffer");
    };
    DistributedDataParallel ddp(model.parameters(), model.model_buffers(), group, options);
    Join join({ddp}, following_options());
    for (int i = 0; i < (group.rank() == 0 ? 1 : 4); ++i) {
      model.set_buffers(static_cast<float>(10 * group.rank() + i));
      ddp.forward();
      model.set_gradients(6.0F);
      if (i > 0) ddp.gradient_unused(1);
      ddp.synchronize();
    }
    join.finish();
    found.equal(shadowed, group.rank() == 0 ? 3 : 0, "the number of shadowed iterations");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(iterations_under_no_sync_are_not_stepped) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    Training training(group, &with_momentum);
    SmallModel& model = training.model();
    Join join({training.ddp()}, following_options());
    // Two iterations are accumulated before each step.
    for (int round = 0; round < 1 + 2 * group.rank(); ++round) {
      model.set_gradients(0.0F);
      for (int part = 0; part < 3; ++part) {
        std::optional<DistributedDataParallel::NoSync> guard;
        if (part < 2) guard.emplace(training.ddp());
        training.ddp().forward();
        for (std::size_t p = 0; p < model.gradients.size(); ++p) {
          for (std::size_t i = 0; i < model.gradients[p].size(); ++i) {
            model.gradients[p][i] += gradient_element(group.rank(), 3 * round + part, p, i);
          }
        }
        model.buffers[1][0] += 1.0F;
        training.ddp().synchronize();
      }
      training.step();
    }
    join.finish();
    training.expect_equal_records(found, 5);
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(collectives_of_the_loop_itself_do_not_get_in_the_way) {
  const auto result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    Training training(group, &with_momentum);
    Join join({training.ddp()}, following_options());
    for (int i = 0; i < 2 + group.rank(); ++i) {
      training.iterate(i);
      std::int64_t samples = 10;  // a metric
      const int active = group.all_reduce(std::span(&samples, 1)).count();
      found.equal(samples, 10 * active, "the metric");
      found.equal(active, i < 2 ? 3 : 4 - i, "the active ranks");
    }
    join.finish();
    training.expect_equal_records(found, 4);
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(two_models_follow_in_one_context) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    Findings found;
    Training first(group, &with_momentum);
    Training second(group, &with_moments);
    Join join({first.ddp(), second.ddp()}, following_options());
    for (int i = 0; i < 2 + 3 * group.rank(); ++i) {
      first.iterate(i);
      second.iterate(i);
    }
    join.finish();
    first.expect_equal_records(found, 5);
    second.expect_equal_records(found, 5);
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(two_models_follow_whose_passes_interleave) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) {
    Findings found;
    Training first(group, &with_momentum);
    Training second(group, &with_moments);
    Join join({first.ddp(), second.ddp()}, following_options());
    for (int i = 0; i < 2 + 3 * group.rank(); ++i) {
      first.begin();
      second.begin();
      second.finish(i);
      first.finish(i);
    }
    join.finish();
    first.expect_equal_records(found, 5);
    second.expect_equal_records(found, 5);
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::nn
