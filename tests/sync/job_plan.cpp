#include "tests/sync/job_plan.h"

#include <algorithm>
#include <random>

namespace tensorplay::sync {

std::uint64_t JobPlan::longest(std::size_t context) const {
  return *std::ranges::max_element(iterations[context]);
}

std::uint64_t JobPlan::first_number(std::size_t context) const {
  std::uint64_t number = 1;
  for (std::size_t i = 0; i < context; ++i) number += longest(i) + gap();
  return number;
}

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

JobPlan random_plan_with_deaths(std::uint64_t seed) {
  JobPlan plan = random_plan(seed);
  std::mt19937_64 random(~seed);
  for (int rank = 0; rank < plan.rank_count; ++rank) plan.mortals.push_back(rank);
  std::ranges::shuffle(plan.mortals, random);
  plan.mortals.resize(1 + random() % static_cast<std::uint64_t>(plan.rank_count - 1));
  return plan;
}

}  // namespace tensorplay::sync
