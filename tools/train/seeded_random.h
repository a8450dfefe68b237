// Random numbers that are the same in every run and on every machine.
//
// The standard library's distributions and std::shuffle may differ from one implementation to the
// next; what is here is written out, over an engine whose output the standard fixes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace tensorplay::train {

// What random numbers are drawn for. Each purpose has a stream of its own, so that drawing more for
// one leaves the others as they were.
enum class Purpose : std::uint32_t {
  split = 1,
  weights = 2,
  epoch_order = 3,
  killed_ranks = 4,
  moments = 5,
};

// One stream of random numbers, named by seed, purpose and index.
class SeededRandom {
 public:
  SeededRandom(std::uint64_t seed, Purpose purpose, std::uint32_t index = 0);

  // A whole number 0 ... limit - 1, all equally likely. `limit` is at least 1.
  std::size_t below(std::size_t limit);
  // A number in [-bound, bound), a multiple of bound / 2^23.
  float symmetric(float bound);

 private:
  std::mt19937_64 engine_;
};

// The numbers 0 ... count - 1 in random order.
std::vector<std::size_t> shuffled(std::size_t count, SeededRandom random);

}  // namespace tensorplay::train
