#include "tools/train/seeded_random.h"

#include <numeric>
#include <utility>

namespace tensorplay::train {
namespace {

std::mt19937_64 engine_of(std::uint64_t seed, Purpose purpose, std::uint32_t index) {
  std::seed_seq name{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                     static_cast<std::uint32_t>(purpose), index};
  return std::mt19937_64(name);
}

}  // namespace

SeededRandom::SeededRandom(std::uint64_t seed, Purpose purpose, std::uint32_t index)
    : engine_(engine_of(seed, purpose, index)) {}

std::size_t SeededRandom::below(std::size_t limit) {
  // Draws beyond the greatest multiple of `limit` are thrown away: they'd favour small numbers.
  const std::uint64_t excess = (UINT64_MAX % limit + 1) % limit;
  std::uint64_t drawn = engine_();
  while (drawn > UINT64_MAX - excess) drawn = engine_();
  return drawn % limit;
}

float SeededRandom::symmetric(float bound) {
  const auto steps = static_cast<float>(engine_() >> 40);  // 24 bits: exact in a float
  return (steps * 0x1p-23f - 1.0f) * bound;
}

std::vector<std::size_t> shuffled(std::size_t count, SeededRandom random) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t left = count; left > 1; --left) {
    std::swap(order[left - 1], order[random.below(left)]);
  }
  return order;
}

}  // namespace tensorplay::train
