// Jobs as lines and tables.
#pragma once

#include "lib/inspect/job_view.h"

#include <string>

namespace tensorplay::tpstat {

// "train-7: 4 ranks; 3 waiting, 1 computing".
std::string line_of(const std::string& name, const inspect::JobView& job);

// A line for each rank, below a line with the columns' names; ends in a line's end.
std::string table_of(const inspect::JobView& job);

}  // namespace tensorplay::tpstat
