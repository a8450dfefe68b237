// A logarithmic axis of a plot: a range of positive values, its ticks, and where each value lies.
#pragma once

#include <vector>

namespace tensorplay::tpbench {

class LogAxis {
 public:
  // The values least ... most (0 < least <= most), widened to whole powers of `base`, drawn from
  // position `from` to position `to`, in pixels; `from` may be the greater one.
  LogAxis(double least, double most, double base, double from, double to);

  double position(double value) const noexcept;
  // The powers of the base, both ends among them.
  std::vector<double> ticks() const;

 private:
  double base_;
  int first_, last_;  // exponents of the ends
  double from_, to_;
};

}  // namespace tensorplay::tpbench
