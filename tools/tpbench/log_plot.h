// Time by size, as a picture.
#pragma once

#include "tools/tpbench/result.h"

#include <span>
#include <string>
#include <vector>

namespace tensorplay::tpbench {

// One line of a plot. Positive numbers.
struct Curve {
  struct Dot {
    double bytes;
    double seconds;
  };
  std::string label;
  std::string style;  // "yardstick", "ours0", "ours1", "peer0" ... "peer2": colour and dashes
  std::vector<Dot> dots = {};
};

// One panel: curves over the same sizes.
struct Panel {
  std::string title;
  std::vector<Curve> curves = {};
};

// An SVG document with the panels below each other, both axes logarithmic. Stands alone, and
// follows the reader's choice of a light or a dark background. No panel: an empty picture.
std::string log_plot(const std::vector<Panel>& panels);

// A panel for each run of results that differ in size only; barriers have no size and no panel.
std::vector<Panel> panels_of(std::span<const PointResult> results);

// Both.
std::string plots_of(std::span<const PointResult> results);

}  // namespace tensorplay::tpbench
