#include "tests/chaos/random_job.h"

#include "tests/chaos/dice.h"
#include "tests/chaos/random_scenario.h"

#include <iterator>

namespace tensorplay::chaos {

using distributed::PeerFailurePolicy;
using faults::Action;
using faults::Fault;

namespace {

Action any_action(Dice& dice, bool from_outside) {
  if (from_outside) return dice.chance(60) ? Action::kill : Action::stop;
  constexpr Action kActions[] = {Action::kill, Action::kill,  Action::kill,  Action::abort,
                                 Action::exit, Action::raise, Action::raise, Action::stop};
  return kActions[dice.below(std::size(kActions))];
}

// Which points a rank passes, and how often, is the same whenever the job is played; but for those
// where it depends on who is faster. These are here whether it passed them or not.
std::map<std::string, int> points_of(std::map<std::string, int> passes) {
  std::erase_if(passes, [](const auto& point) {
    return point.first.starts_with("doorbell.") || point.first.starts_with("group_slot.");
  });
  for (const char* point : {"doorbell.marked", "doorbell.awake", "group_slot.before_free"}) {
    passes[point] = 3;
  }
  return passes;
}

Fault any_fault(Dice& dice, int victim, const Passes& passes, std::int64_t duration_ns) {
  const auto points = points_of(passes[static_cast<std::size_t>(victim)]);
  const bool from_outside = dice.chance(35);
  Fault fault;
  fault.action = any_action(dice, from_outside);
  fault.victim = victim;
  fault.stopped_ns = 1'000'000 * (1 + dice.below(std::int64_t{150}));
  if (from_outside) {
    fault.after_ns = duration_ns / 1000 * dice.below(1250);
    return fault;
  }
  const auto place = std::next(points.begin(), dice.below(static_cast<int>(points.size())));
  fault.point = place->first;
  fault.pass = 1 + dice.below(place->second);
  if (fault.action == Action::raise && !faults::may_raise_at(fault.point))
    fault.action = Action::kill;
  return fault;
}

}  // namespace

std::unique_ptr<RandomJob> random_job(std::uint64_t seed) {
  Dice dice(seed);
  auto job = std::make_unique<RandomJob>();
  job->trial.world_size = 2 + dice.below(5);
  job->trial.policy =
      dice.chance(50) ? PeerFailurePolicy::raise : PeerFailurePolicy::continue_without;
  job->trial.named = dice.chance(25);
  job->scenario = random_scenario(dice.next());
  job->trial.scenario = &job->scenario;
  return job;
}

std::vector<Fault> random_faults(std::uint64_t seed, const RandomJob& job, const Passes& passes,
                                 std::int64_t duration_ns) {
  Dice dice(seed);
  const int world_size = job.trial.world_size;
  const int first = dice.below(world_size);
  std::vector<Fault> faults = {any_fault(dice, first, passes, duration_ns)};
  // One more for the same rank, if it's still there then, and for others.
  if (faults.front().action == Action::stop && dice.chance(30)) {
    faults.push_back(any_fault(dice, first, passes, duration_ns));
  }
  for (int next = 1; next < world_size - 1 && dice.chance(35); ++next) {
    faults.push_back(any_fault(dice, (first + next) % world_size, passes, duration_ns));
  }
  return faults;
}

}  // namespace tensorplay::chaos
