#include <tensorplay/optim/step_count.h>

#include <fmt/core.h>
#include <tensorplay/error.h>

#include <cmath>

namespace tensorplay::optim {

namespace {

constexpr std::int64_t kBase = std::int64_t{1} << 24;

bool is_digit(float digit) {
  return digit >= 0 && digit < static_cast<float>(kBase) && std::trunc(digit) == digit;
}

}  // namespace

std::int64_t StepCount::value() const {
  if (!is_digit(digits_[0]) || !is_digit(digits_[1])) {
    throw InvalidArgument(
        fmt::format("optimizer state: the number of steps reads {{{}, {}}}; both must be whole "
                    "numbers from 0 to 2^24 - 1. Was state() overwritten with another tensor?",
                    digits_[0], digits_[1]));
  }
  return static_cast<std::int64_t>(digits_[0]) + kBase * static_cast<std::int64_t>(digits_[1]);
}

void StepCount::increment() {
  const std::int64_t next = value() + 1;
  if (next == kBase * kBase) throw InvalidArgument("optimizer: more than 2^48 - 1 steps");
  digits_ = {static_cast<float>(next % kBase), static_cast<float>(next / kBase)};
}

}  // namespace tensorplay::optim
