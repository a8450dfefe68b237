// A number of steps that can be broadcast together with tensors of float.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace tensorplay::optim {

// A float counts exactly up to 2^24 only, which a long training passes. Two of them, as digits to
// the base 2^24, count exactly up to 2^48 - 1.
class StepCount {
 public:
  // Throws InvalidArgument if the digits are none: negative, fractional, NaN, 2^24 or more.
  std::int64_t value() const;
  // Throws as value(), and at 2^48 - 1.
  void increment();

  // {value mod 2^24, value / 2^24}; writing sets the count.
  std::span<float> digits() noexcept { return digits_; }

 private:
  std::array<float, 2> digits_{};
};

}  // namespace tensorplay::optim
