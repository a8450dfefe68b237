#include "tests/chaos/random_scenario.h"

#include "tests/chaos/dice.h"
#include "tests/conformance/plan.h"
#include "tests/faults/counter.h"
#include "tests/faults/trained_model.h"

#include <cstddef>
#include <string>

namespace tensorplay::chaos {
namespace {

using faults::Counter;
using faults::Player;

constexpr int kDepthMax = 2;   // of parts of parts
constexpr int kInputsMax = 4;  // of a rank, in one context

conformance::Case any_case(const Player& player, Dice& dice) {
  constexpr std::size_t kBytes[] = {32, 4096, 40'000, 200'000};
  std::uint64_t random = dice.next();
  return conformance::any_case(player.size(), random, kBytes[dice.below(4)]);
}

void play_collectives(Player& player, Dice& dice) {
  const int count = 1 + dice.below(6);
  for (int i = 0; i < count; ++i) player.run(any_case(player, dice));
}

// Some under way when the next ones are issued.
void play_async(Player& player, Dice& dice) {
  const int count = 2 + dice.below(14);
  for (int i = 0; i < count; ++i) {
    player.start(any_case(player, dice));
    while (dice.chance(30) && player.in_flight() > 0) player.finish_oldest();
  }
  player.finish_all();
}

void play_join(Player& player, Dice& dice) {
  constexpr Counter::Hook kHooks[] = {Counter::Hook::plain, Counter::Hook::census,
                                      Counter::Hook::shadowing};
  const auto hook = kHooks[dice.below(3)];
  const bool terminates = dice.chance(25);
  play_context(player, hook, dice.of(player.rank()).below(kInputsMax + 1), terminates);
}

void play_training(Player& player, Dice& dice) {
  faults::TrainedModel model(player, dice.chance(50));
  const int contexts = 1 + dice.below(2);
  for (int i = 0; i < contexts; ++i) {
    dice.next();
    model.train(dice.of(player.rank()).below(kInputsMax + 1));
  }
}

void play_steps(Player& player, Dice dice, int depth);

void play_split(Player& player, Dice& dice, int depth) {
  const int colors = 1 + dice.below(3);
  const int color = dice.of(player.rank()).below(colors);
  const int key = dice.of(player.rank() + 100).below(10);
  Player part = player.split(color, key);
  if (dice.chance(50)) player.start({.count = 0});
  play_steps(part, dice.of(color), depth + 1);
  player.finish_all();
}

void play_steps(Player& player, Dice dice, int depth) {
  const int steps = 1 + dice.below(4);
  for (int step = 0; step < steps; ++step) {
    player.begin_section();
    const int choice = dice.below(depth < kDepthMax ? 10 : 8);
    if (choice < 3) play_collectives(player, dice);
    if (choice == 3 || choice == 4) play_async(player, dice);
    if (choice == 5 || choice == 6) play_join(player, dice);
    if (choice == 7) play_training(player, dice);
    if (choice > 7) play_split(player, dice, depth);
  }
}

}  // namespace

faults::Scenario random_scenario(std::uint64_t seed) {
  return {"random steps " + std::to_string(seed),
          [seed](Player& player) { play_steps(player, Dice(seed), 0); }};
}

}  // namespace tensorplay::chaos
