// A Joinable that takes a census in every iteration.
#pragma once

#include "tests/faults/player.h"

#include <tensorplay/distributed/algorithms/join.h>

#include <cstdint>
#include <memory>

namespace tensorplay::faults {

class Counter final : public distributed::algorithms::Joinable {
 public:
  // What its hooks do: nothing; a census in the post hook; or that, the other way round, in the
  // main hook: a joined rank keeps in step.
  enum class Hook { plain, census, shadowing };

  // `player` outlives it.
  Counter(Player& player, Hook hook);

  // One iteration: a small and a large census, unless told not to.
  void use(bool counts = true);

  std::unique_ptr<distributed::algorithms::JoinHook> join_hook(
      const distributed::algorithms::JoinKwargs& kwargs) override;
  distributed::ProcessGroup& join_process_group() override { return group_; }
  const char* joinable_name() const noexcept override { return "Counter"; }

 private:
  Player& player_;
  Hook hook_;
  distributed::ProcessGroup group_;
  std::uint32_t iteration_ = 0;  // of the context: counts on while the hooks shadow
};

// One Join context of one Counter with so many iterations on this rank; notes the report, or that
// the context was terminated early.
void play_context(Player& player, Counter::Hook hook, int iterations,
                  bool throw_on_early_termination = false);

}  // namespace tensorplay::faults
