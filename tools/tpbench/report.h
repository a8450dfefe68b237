// The forms in which results leave tpbench: a table for people, CSV and JSON for programs.
#pragma once

#include "tools/tpbench/result.h"

#include <span>
#include <string>

namespace tensorplay::tpbench {

// The heading of the table for points with these contestants, and a point's line; of equal width.
std::string table_head(const PointResult& first);
std::string table_row(const PointResult& result);
// What limits depend on no point: one line.
std::string limits_line(const Limits& limits);
// How a time is shown: "0.123 us", in four significant digits.
std::string microseconds(double seconds);

// One line per point and contestant, with a heading; times in microseconds.
std::string to_csv(std::span<const PointResult> results);

// One object, indented, ending in a line feed: "host" and "points", each with "limits" and
// "contestants", with all medians. Times in seconds.
std::string to_json(std::span<const PointResult> results);

}  // namespace tensorplay::tpbench
