#include "tests/sync/random_schedule.h"

#include <array>
#include <cstddef>
#include <random>
#include <vector>

namespace tensorplay::sync {
namespace {

constexpr std::int64_t kStepsMax = 50'000'000;  // a hundred times what the longest job takes
constexpr int kStretch = 500;

std::discrete_distribution<int> draw_speeds(const Model& model, std::mt19937_64& random) {
  static constexpr std::array<double, 4> kSpeeds = {1, 10, 100, 1000};
  static constexpr std::array<double, 4> kFaultSpeeds = {0, 0, 0.01, 1};
  std::vector<double> speeds;
  for (int machine = 0; machine < model.machine_count(); ++machine) {
    const auto& choice = model.is_fault(machine) ? kFaultSpeeds : kSpeeds;
    speeds.push_back(choice[random() % choice.size()]);
  }
  return {speeds.begin(), speeds.end()};
}

}  // namespace

std::string run_in_random_order(Model& model, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::discrete_distribution<int> speeds;
  for (std::int64_t i = 0; i < kStepsMax; ++i) {
    if (i % kStretch == 0) {
      if (model.done()) return "";
      speeds = draw_speeds(model, random);
    }
    const std::string finding = model.step(speeds(random));
    if (!finding.empty()) return finding + " (TENSORPLAY_TEST_SEED=" + std::to_string(seed) + ")";
  }
  return "somebody waits for ever (TENSORPLAY_TEST_SEED=" + std::to_string(seed) + ")";
}

}  // namespace tensorplay::sync
