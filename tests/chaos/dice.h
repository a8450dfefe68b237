// Random numbers that are the same for the same seed, everywhere.
#pragma once

#include "tests/conformance/oracle.h"

#include <cstdint>

namespace tensorplay::chaos {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(conformance::mix(seed)) {}

  // 0 ... below - 1.
  template <typename Integer>
  Integer below(Integer limit) {
    return static_cast<Integer>(next() % static_cast<std::uint64_t>(limit));
  }
  bool chance(int percent) { return below(100) < percent; }
  std::uint64_t next() { return state_ = conformance::mix(state_); }

  // Dice of somebody's own, for what needn't be the same everywhere.
  Dice of(int somebody) const { return Dice(state_ ^ static_cast<std::uint64_t>(somebody + 1)); }

 private:
  std::uint64_t state_;
};

}  // namespace tensorplay::chaos
