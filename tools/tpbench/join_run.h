// The run that measures what a Join context costs.
#pragma once

#include "tools/tpbench/settings.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace tensorplay::tpbench {

// One line of the table. All values of a line have one unit: "ns", "us", "ms", "KiB", or "x" for a
// ratio.
struct JoinFigure {
  std::string what;
  std::string unit;
  std::vector<double> repeats = {};
  // What others need for the same, by their names: "torch".
  std::map<std::string, std::vector<double>> peers = {};
};

// The names of lines that the figures of `tpbench check` are about.
namespace join_figure {
inline constexpr const char* kNotify = "notification (notify_join_context)";
inline constexpr const char* kAgree = "notification under throw, 2 ranks";
inline constexpr const char* kAgreeToLine = "notification under throw, 2 ranks, to a line one way";
inline constexpr const char* kTrainingRatio = "DDP iteration, 2 ranks, Join on / off";
inline constexpr const char* kActiveRatio = "all_reduce 1 KiB, 2 of 4 have joined / 2 ranks";
inline constexpr const char* kActiveRatioLarge = "all_reduce 1 MiB, 2 of 4 have joined / 2 ranks";
inline constexpr const char* kStart = "spawn until all have their group, 8 ranks";
inline constexpr const char* kSegment = "memory of a segment, 8 ranks";
}  // namespace join_figure

// Measures all lines, things that are compared in turns; PyTorch too, repeat by repeat, in a run of
// `tpbench join` that looks for peers by itself. Tells on stderr why it goes without.
std::vector<JoinFigure> measure_join(const Settings& settings);

// A table: what, the median, least and greatest over the repeats, and a column per peer.
std::string join_table(std::span<const JoinFigure> figures);
// One object, indented, ending in a line feed: "join", a list of "what", "unit", "median",
// "repeats" and "peers".
std::string join_json(std::span<const JoinFigure> figures);

// Prints the table, writes the files. Gives the exit code.
int run_join(const Settings& settings);

}  // namespace tensorplay::tpbench
