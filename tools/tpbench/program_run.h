// Runs a program to its end, or until its time is over.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace tensorplay::tpbench {

// What it wrote to its standard output. `command` is searched for on the PATH. The program reads
// nothing, is killed with this process, and, if its time is over, by SIGKILL, and reaped: none is
// left. Throws Error if it doesn't succeed in time, with the end of what it wrote to its standard
// error, and std::system_error.
std::string run_program(const std::vector<std::string>& command,
                        std::chrono::milliseconds patience);

}  // namespace tensorplay::tpbench
