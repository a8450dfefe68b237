// Scenarios with Join contexts: uneven inputs, and ranks that don't live to see the end of them.
#include "tests/faults/scenario.h"

#include <tensorplay/distributed/algorithms/join.h>
#include <tensorplay/error.h>
#include <tensorplay/nn/parallel/distributed_data_parallel.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tensorplay::faults {
namespace {

using distributed::ProcessGroup;
using distributed::algorithms::Join;
using distributed::algorithms::Joinable;
using distributed::algorithms::JoinHook;
using distributed::algorithms::JoinKwargs;
using distributed::algorithms::JoinOptions;
using nn::parallel::DistributedDataParallel;

// Where a joined rank is: the iterations of the others that its hooks shadow.
struct Position {
  std::uint32_t iteration = 0;
};

class CensusHook final : public JoinHook {
 public:
  explicit CensusHook(Player& player) : player_(player) {}
  void post_hook(bool) override {
    player_.begin_section();
    player_.census(3);
  }

 private:
  Player& player_;
};

class ShadowingHook final : public JoinHook {
 public:
  ShadowingHook(Player& player, Position& position) : player_(player), position_(position) {}
  void main_hook() override {
    player_.begin_iteration(++position_.iteration);
    player_.census(3, true);
    player_.census(5000, true);
  }

 private:
  Player& player_;
  Position& position_;
};

// Takes a census in every iteration: a small and a large one.
class Counter final : public Joinable {
 public:
  enum class Hook { plain, census, shadowing };
  Counter(Player& player, Hook hook) : player_(player), hook_(hook), group_(player.group()) {}

  void use(bool counts = true) {
    Join::notify_join_context(*this);
    player_.begin_iteration(++position_.iteration);
    if (!counts) return;
    player_.census(3);
    player_.census(5000);
  }

  std::unique_ptr<JoinHook> join_hook(const JoinKwargs&) override {
    if (hook_ == Hook::census) return std::make_unique<CensusHook>(player_);
    if (hook_ == Hook::shadowing) return std::make_unique<ShadowingHook>(player_, position_);
    return std::make_unique<JoinHook>();
  }
  ProcessGroup& join_process_group() override { return group_; }

 private:
  Player& player_;
  Hook hook_;
  ProcessGroup group_;
  Position position_;
};

int inputs_of(const Player& player) {
  return 1 + (player.rank() * 2) % 3;
}

void play_context(Player& player, Counter::Hook hook) {
  player.begin_section();
  Counter counter(player, hook);
  Join join({counter});
  for (int i = 0; i < inputs_of(player); ++i) counter.use();
  const auto report = join.finish();
  player.begin_section();
  player.note_report(report);
}

void play_plain(Player& player) {
  play_context(player, Counter::Hook::plain);
  play_context(player, Counter::Hook::plain);
}

void play_post_hooks(Player& player) {
  player.begin_section();
  Counter first(player, Counter::Hook::census);
  Counter second(player, Counter::Hook::plain);
  const auto report = distributed::algorithms::with_join({first, second}, {}, [&] {
    for (int i = 0; i < inputs_of(player); ++i) {
      first.use();
      second.use(false);
    }
  });
  player.begin_section();
  player.note_report(report);
}

void play_in_step(Player& player) {
  play_context(player, Counter::Hook::shadowing);
  play_context(player, Counter::Hook::shadowing);
}

void play_early_termination(Player& player) {
  player.begin_section();
  Counter counter(player, Counter::Hook::plain);
  const JoinOptions options{.throw_on_early_termination = true};
  try {
    Join join({counter}, options);
    for (int i = 0; i < inputs_of(player); ++i) counter.use();
    join.finish();
  } catch (const EarlyTermination&) {
    player.begin_section();
    player.note_termination();
  }
}

// A model whose gradients tell, as the bits of their sum, who contributed to them.
class Model {
 public:
  Model(Player& player, bool follows) : player_(player), follows_(follows) {
    ddp_.emplace(std::vector<nn::parallel::Parameter>{{"small", small_, small_gradient_},
                                                      {"large", large_, large_gradient_}},
                 std::vector<nn::parallel::Buffer>{{"mean", mean_}}, player.group(),
                 nn::parallel::DistributedDataParallelOptions{
                     .on_shadowed_iteration = [this] { note(true); }, .bucket_bytes = 256});
  }

  void train() {
    player_.begin_section();
    iteration_ = 0;
    const JoinOptions options{.kwargs = JoinKwargs{{"follow", follows_}}};
    Join join({*ddp_}, options);
    for (int i = 0; i < inputs_of(player_); ++i) iterate();
    const auto report = join.finish();
    player_.begin_section();
    player_.note_report(report);
    player_.note_state(ddp_->checksum(), "model");
  }

 private:
  void iterate() {
    ddp_->forward();
    // Sums are divided by the size of the group: what is left are bits.
    const float bit = std::ldexp(1.0F, player_.world_rank()) * static_cast<float>(player_.size());
    small_gradient_.assign(small_gradient_.size(), bit);
    large_gradient_.assign(large_gradient_.size(), bit);
    ddp_->gradient_ready(1);
    ddp_->synchronize();
    for (float& mean : mean_) mean += 1;
    note(false);
  }

  void note(bool shadow) {
    player_.begin_iteration(++iteration_);
    const float sum = large_gradient_.front();
    // In the order in which they are reduced.
    for (const auto* gradient : {&large_gradient_, &small_gradient_}) {
      const float first = gradient->front();
      for (const float value : *gradient) {
        if (value == first) continue;
        player_.found().add("a gradient has " + std::to_string(first) + " and " +
                            std::to_string(value));
        break;
      }
      player_.note_census(static_cast<std::uint64_t>(first), "gradient", shadow);
    }
    for (float& weight : large_) weight -= sum;
  }

  Player& player_;
  bool follows_;
  std::uint32_t iteration_ = 0;
  std::vector<float> small_ = std::vector<float>(10), small_gradient_ = small_;
  std::vector<float> large_ = std::vector<float>(9000), large_gradient_ = large_;
  std::vector<float> mean_ = std::vector<float>(20);
  std::optional<DistributedDataParallel> ddp_;
};

void play_ddp(Player& player, bool follows) {
  Model model(player, follows);
  model.train();
  model.train();
}

}  // namespace

std::vector<Scenario> join_scenarios() {
  return {
      {"join", play_plain},
      {"join with post hooks", play_post_hooks},
      {"join in step", play_in_step},
      {"early termination", play_early_termination},
      {"data parallel", [](Player& player) { play_ddp(player, false); }},
      {"data parallel in step", [](Player& player) { play_ddp(player, true); }},
  };
}

}  // namespace tensorplay::faults
