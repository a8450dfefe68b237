#include "tests/sync/random_schedule.h"

#include "tests/sync/stepped_job.h"

#include <array>
#include <cstddef>
#include <random>
#include <vector>

namespace tensorplay::sync {
namespace {

constexpr std::int64_t kStepsMax = 50'000'000;  // a hundred times what the longest job takes
constexpr int kStretch = 500;

std::discrete_distribution<int> draw_speeds(int machines, std::mt19937_64& random) {
  static constexpr std::array<double, 4> kSpeeds = {1, 10, 100, 1000};
  std::vector<double> speeds(static_cast<std::size_t>(machines));
  for (double& speed : speeds) speed = kSpeeds[random() % kSpeeds.size()];
  return {speeds.begin(), speeds.end()};
}

}  // namespace

JobPlan random_plan(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  JobPlan plan;
  plan.rank_count = static_cast<int>(2 + random() % 7);
  plan.iterations.resize(1 + random() % 4);
  for (auto& context : plan.iterations) {
    const std::uint64_t most = random() % 50;
    const bool even = random() % 4 == 0;
    for (int rank = 0; rank < plan.rank_count; ++rank) {
      context.push_back(even ? most : random() % (most + 1));
    }
  }
  return plan;
}

std::string run_in_random_order(const JobPlan& plan, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  SteppedJob job(plan);
  std::discrete_distribution<int> speeds;
  for (std::int64_t i = 0; i < kStepsMax; ++i) {
    if (i % kStretch == 0) {
      if (job.done()) return "";
      speeds = draw_speeds(job.machine_count(), random);
    }
    const std::string finding = job.step(speeds(random));
    if (!finding.empty()) return finding + " (seed " + std::to_string(seed) + ")";
  }
  return "somebody waits for ever (seed " + std::to_string(seed) + ")";
}

}  // namespace tensorplay::sync
