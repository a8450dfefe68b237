#include "tests/faults/campaign.h"

#include "tests/conformance/oracle.h"

#include <cstdlib>
#include <string_view>

namespace tensorplay::faults {
namespace {

constexpr int kWorldSizeMin = 2;
constexpr int kWorldSizeMax = 5;
constexpr int kCasts = 2;  // of those left to chance
constexpr int kFailedMax = 5;
constexpr std::int64_t kStopped_ns = 120'000'000;  // longer than a survivor's look at the others

bool every_fault_wanted() {
  const char* wanted = std::getenv("TENSORPLAY_FAULTS");
  return wanted != nullptr && std::string_view(wanted) == "every";
}

}  // namespace

Campaign::Campaign(std::uint64_t seed) : random_(seed), every_(every_fault_wanted()) {}

std::uint64_t Campaign::draw(std::uint64_t below) {
  random_ = conformance::mix(random_);
  return random_ % below;
}

std::vector<Campaign::Cast> Campaign::casts() {
  std::vector<Cast> all;
  for (int world_size = kWorldSizeMin; world_size <= kWorldSizeMax; ++world_size) {
    for (int victim = 0; victim < world_size; ++victim) all.push_back({world_size, victim});
  }
  if (every_) return all;
  std::vector<Cast> some;
  for (int i = 0; i < kCasts; ++i) some.push_back(all[draw(all.size())]);
  return some;
}

// Plays the scenario undisturbed; gives how often the victim passes each point.
std::map<std::string, int> Campaign::rehearse(const Scenario& scenario,
                                              distributed::PeerFailurePolicy policy, Cast cast) {
  const Trial trial{&scenario, cast.world_size, policy, {}};
  const Verdict verdict = judge(trial, undisturbed_, faults::run(trial, undisturbed_));
  if (!verdict.findings.empty()) {
    ++failed_;
    findings_ += to_string(trial) + ": " + verdict.findings + "\n";
  }
  return undisturbed_.passes(cast.victim).by_point();
}

// Of so many passes: each, or the first, the last or any one.
std::vector<int> Campaign::passes_to_try(int passes) {
  std::vector<int> some;
  if (every_) {
    for (int pass = 1; pass <= passes; ++pass) some.push_back(pass);
    return some;
  }
  const auto any = static_cast<int>(draw(static_cast<std::uint64_t>(passes))) + 1;
  const int choice[] = {1, passes, any};
  return {choice[draw(3)]};
}

std::vector<Fault> Campaign::faults_at(const std::map<std::string, int>& points, Cast cast,
                                       Action action) {
  std::vector<Fault> faults;
  for (const auto& [point, passes] : points) {
    if (action == Action::raise && !may_raise_at(point)) continue;
    // The casts share the points out between them; the scenarios, too, where a fault takes time.
    if (!every_ && draw(action == Action::stop ? 2 * kCasts : kCasts) != 0) continue;
    for (const int pass : passes_to_try(passes)) {
      faults.push_back({.action = action,
                        .victim = cast.victim,
                        .point = point,
                        .pass = pass,
                        .stopped_ns = kStopped_ns});
    }
  }
  return faults;
}

void Campaign::run(const Scenario& scenario, distributed::PeerFailurePolicy policy, Action action) {
  for (const Cast cast : casts()) {
    const auto points = rehearse(scenario, policy, cast);
    for (Fault& fault : faults_at(points, cast, action)) {
      try_one({&scenario, cast.world_size, policy, {std::move(fault)}});
    }
  }
}

void Campaign::run_pairs(const Scenario& scenario, distributed::PeerFailurePolicy policy,
                         Action action) {
  for (const Cast cast : casts()) {
    if (cast.world_size < 3) continue;
    const auto points = rehearse(scenario, policy, cast);
    const auto faults = faults_at(points, cast, action);
    const int other = (cast.victim + 1) % cast.world_size;
    const auto others =
        faults_at(undisturbed_.passes(other).by_point(), {cast.world_size, other}, action);
    if (others.empty()) continue;
    for (const Fault& fault : faults) {
      try_one({&scenario, cast.world_size, policy, {fault, others[draw(others.size())]}});
    }
  }
}

void Campaign::try_one(const Trial& trial) {
  if (failed_ >= kFailedMax) return;
  Verdict verdict = judge(trial, notebook_, faults::run(trial, notebook_));
  if (trial.faults.front().action == Action::stop) {
    verdict.findings += compare_with_undisturbed(trial, notebook_, undisturbed_);
  }
  tally_.add(trial, verdict);
  if (verdict.findings.empty()) return;
  ++failed_;
  findings_ += to_string(trial) + ": " + verdict.findings + "\n";
}

}  // namespace tensorplay::faults
