// What a run prints when it has ended.
#pragma once

#include "tools/train/run_report.h"

#include <string>

namespace tensorplay::train {

// Tables of the epochs and of the ranks, who was lost, then the verdict; ends in a line feed.
std::string summary(const RunReport& report);

// One line: "test accuracy 0.972, 4 equal checksums", or which ranks hold another model than the
// lowest that lives.
std::string verdict(const RunReport& report);

}  // namespace tensorplay::train
