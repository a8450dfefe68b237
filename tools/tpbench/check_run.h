// The run that measures what the figures are about, and judges.
#pragma once

#include "tools/tpbench/settings.h"

namespace tensorplay::tpbench {

// Of the settings' sizes and numbers of ranks those count that figures speak of. Prints a line per
// figure; writes the points that were measured to the files. Gives the exit code: 0 if all figures
// are reached, 1 if one isn't.
int run_check(const Settings& settings);

}  // namespace tensorplay::tpbench
