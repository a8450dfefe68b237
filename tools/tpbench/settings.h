// What tpbench is asked to do.
#pragma once

#include "tools/tpbench/point.h"

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

namespace tensorplay::tpbench {

enum class Mode {
  collectives,  // the table of points
  join,         // what a Join context costs
  check,        // the figures that the project promises
};

struct Settings {
  Mode mode = Mode::collectives;

  // What is measured: every combination, for `collectives`.
  std::vector<distributed::CollectiveKind> kinds = {distributed::CollectiveKind::all_reduce};
  std::vector<DType> dtypes = {DType::float32};
  std::vector<distributed::ReduceOp> ops = {distributed::ReduceOp::sum};
  std::vector<std::size_t> sizes;
  std::vector<int> ranks = {2};
  std::vector<Memory> memories = {Memory::own, Memory::allocated, Memory::shared};
  std::vector<Calls> calls = {Calls::blocking};

  // How.
  int repeats = 5;
  std::size_t iterations = 0;  // samples of each contestant in each repeat; 0: by time
  int time_ms = 50;            // of each contestant in each repeat
  int tries = 3;               // of a repeat while the machine changes
  Start start = Start::automatic;
  bool peers_are_found = true;  // those that can be measured here; else `peers`
  std::vector<std::string> peers;

  // What becomes of it, besides the table. Empty: nothing.
  std::string csv_path;
  std::string json_path;
  std::string svg_path;
};

// The command line asks for help, which is the text.
class HelpWanted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws InvalidArgument, in one line, for what can't be right, and HelpWanted.
Settings parse_settings(const std::vector<std::string>& arguments);

}  // namespace tensorplay::tpbench
