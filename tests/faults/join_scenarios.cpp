// Scenarios with Join contexts: uneven inputs, and ranks that don't live to see the end of them.
#include "tests/faults/counter.h"
#include "tests/faults/scenario.h"
#include "tests/faults/trained_model.h"

namespace tensorplay::faults {
namespace {

// Some ranks have the fewest, some the most, some neither.
int inputs_of(const Player& player) {
  return 1 + (player.rank() * 2) % 3;
}

void play_contexts(Player& player, Counter::Hook hook) {
  for (int i = 0; i < 2; ++i) play_context(player, hook, inputs_of(player));
}

// Two Joinables, one with a collective post hook.
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

void play_training(Player& player, bool follows) {
  TrainedModel model(player, follows);
  for (int i = 0; i < 2; ++i) model.train(inputs_of(player));
}

}  // namespace

std::vector<Scenario> join_scenarios() {
  return {
      {"join", [](Player& player) { play_contexts(player, Counter::Hook::plain); }},
      {"join with post hooks", play_post_hooks},
      {"join in step", [](Player& player) { play_contexts(player, Counter::Hook::shadowing); }},
      {"early termination",
       [](Player& player) { play_context(player, Counter::Hook::plain, inputs_of(player), true); }},
      {"data parallel", [](Player& player) { play_training(player, false); }},
      {"data parallel in step", [](Player& player) { play_training(player, true); }},
  };
}

}  // namespace tensorplay::faults
