#include "tools/train/axis.h"

#include <fmt/core.h>
#include <algorithm>
#include <cassert>
#include <cmath>

namespace tensorplay::train {
namespace {

// The least of 1, 2, 5 times a power of ten that isn't below `wanted`.
double round_step(double wanted) {
  const double power = std::pow(10.0, std::floor(std::log10(wanted)));
  for (double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= wanted * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

}  // namespace

Axis::Axis(double least, double most, double from, double to, int tick_count, double step_least)
    : step_(round_step(std::max((most - least) / tick_count, step_least))),
      first_(std::floor(least / step_ + 1e-9) * step_),
      last_(std::ceil(most / step_ - 1e-9) * step_),
      from_(from),
      to_(to) {
  assert(least < most && tick_count > 0);
}

double Axis::position(double value) const noexcept {
  return from_ + (value - first_) / (last_ - first_) * (to_ - from_);
}

std::vector<double> Axis::ticks() const {
  std::vector<double> values;
  const int count = static_cast<int>(std::lround((last_ - first_) / step_));
  for (int i = 0; i <= count; ++i) values.push_back(first_ + i * step_);
  return values;
}

std::string Axis::label(double tick) const {
  const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(step_) - 1e-9)));
  return fmt::format("{:.{}f}", tick, decimals);
}

}  // namespace tensorplay::train
