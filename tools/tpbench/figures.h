// The figures that the project promises, each beside what was measured.
//
// They hold for two CPUs, float32 sums and medians of at least five repeats; "the peer" is the best
// of those that were measured at the same point.
#pragma once

#include "tools/tpbench/join_run.h"
#include "tools/tpbench/result.h"

#include <span>
#include <string>
#include <vector>

namespace tensorplay::tpbench {

// One line of the verdict.
struct Figure {
  std::string what;      // "all_reduce 4 B, 2 ranks"
  std::string wanted;    // ">= 6x faster than the peer"
  std::string measured;  // "3.1x (openmpi)"
  bool is_reached = false;
};

// What can be judged of these points, in their order: a figure that needs a peer is left out where
// none was measured.
std::vector<Figure> judge_points(std::span<const PointResult> results);
// Of a point whose contestants are element types: bytes per second to those of float32.
std::vector<Figure> judge_types(const PointResult& result);
std::vector<Figure> judge_join(std::span<const JoinFigure> figures);

// A line per figure, and how many are reached.
std::string verdict(std::span<const Figure> figures);

}  // namespace tensorplay::tpbench
