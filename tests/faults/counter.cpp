#include "tests/faults/counter.h"

#include <tensorplay/error.h>

namespace tensorplay::faults {

using distributed::algorithms::Join;
using distributed::algorithms::JoinHook;
using distributed::algorithms::JoinKwargs;

namespace {

constexpr std::size_t kSmall = 3;
constexpr std::size_t kLarge = 5000;

class CensusHook final : public JoinHook {
 public:
  explicit CensusHook(Player& player) : player_(player) {}
  void post_hook(bool) override {
    player_.begin_section();
    player_.census(kSmall);
  }

 private:
  Player& player_;
};

class ShadowingHook final : public JoinHook {
 public:
  ShadowingHook(Player& player, std::uint32_t& iteration)
      : player_(player), iteration_(iteration) {}
  void main_hook() override {
    player_.begin_iteration(++iteration_);
    player_.census(kSmall, true);
    player_.census(kLarge, true);
  }

 private:
  Player& player_;
  std::uint32_t& iteration_;
};

}  // namespace

Counter::Counter(Player& player, Hook hook)
    : player_(player), hook_(hook), group_(player.group()) {}

void Counter::use(bool counts) {
  Join::notify_join_context(*this);
  player_.begin_iteration(++iteration_);
  if (!counts) return;
  player_.census(kSmall);
  player_.census(kLarge);
}

std::unique_ptr<JoinHook> Counter::join_hook(const JoinKwargs&) {
  if (hook_ == Hook::census) return std::make_unique<CensusHook>(player_);
  if (hook_ == Hook::shadowing) return std::make_unique<ShadowingHook>(player_, iteration_);
  return std::make_unique<JoinHook>();
}

void play_context(Player& player, Counter::Hook hook, int iterations,
                  bool throw_on_early_termination) {
  player.begin_section();
  Counter counter(player, hook);
  try {
    Join join({counter}, {.throw_on_early_termination = throw_on_early_termination});
    for (int i = 0; i < iterations; ++i) counter.use();
    const auto report = join.finish();
    player.begin_section();
    player.note_report(report);
  } catch (const EarlyTermination&) {
    player.begin_section();
    player.note_termination();
  }
}

}  // namespace tensorplay::faults
