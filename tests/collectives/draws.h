// The numbers of a schedule, one after the other.
#pragma once

#include "tests/conformance/oracle.h"

#include <cstddef>
#include <cstdint>

namespace tensorplay::conformance {

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }
  std::uint64_t next() { return state_ = mix(state_); }

 private:
  std::uint64_t state_;
};

}  // namespace tensorplay::conformance
