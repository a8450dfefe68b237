#include "tools/tpbench/log_axis.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace tensorplay::tpbench {
namespace {

constexpr double kRounding = 1e-9;  // an exact power is its own end

}  // namespace

LogAxis::LogAxis(double least, double most, double base, double from, double to)
    : base_(base),
      first_(static_cast<int>(std::floor(std::log(least) / std::log(base) + kRounding))),
      last_(static_cast<int>(std::ceil(std::log(most) / std::log(base) - kRounding))),
      from_(from),
      to_(to) {
  assert(0 < least && least <= most && base > 1);
  last_ = std::max(last_, first_ + 1);
}

double LogAxis::position(double value) const noexcept {
  const double exponent = std::log(value) / std::log(base_);
  return from_ + (exponent - first_) / (last_ - first_) * (to_ - from_);
}

std::vector<double> LogAxis::ticks() const {
  std::vector<double> values;
  for (int exponent = first_; exponent <= last_; ++exponent) {
    values.push_back(std::pow(base_, exponent));
  }
  return values;
}

}  // namespace tensorplay::tpbench
