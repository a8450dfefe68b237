// One axis of a plot: a range of values, its ticks, and where each value lies on paper.
#pragma once

#include <string>
#include <vector>

namespace tensorplay::train {

class Axis {
 public:
  // The values least ... most (least < most), drawn from position `from` to position `to`, in
  // pixels; `from` may be the greater one. The range is widened to whole ticks, of which there are
  // about `tick_count`, 1, 2 or 5 times a power of ten apart and not less than `step_least`.
  Axis(double least, double most, double from, double to, int tick_count, double step_least = 0);

  double position(double value) const noexcept;
  std::vector<double> ticks() const;
  // A tick's value with as many decimals as ticks differ in.
  std::string label(double tick) const;

 private:
  double step_;
  double first_, last_;  // ticks at the ends
  double from_, to_;
};

}  // namespace tensorplay::train
