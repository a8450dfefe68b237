// A program in a child of tpbench.
#pragma once

#include "lib/multiprocessing/process_handle.h"

#include <chrono>
#include <string>
#include <vector>

namespace tensorplay::tpbench {

// In a child right after the fork: becomes the program, which is searched for on the PATH and reads
// nothing. `output` and `error` are descriptors. If there is no such program, says so to `error`
// and exits with 127.
[[noreturn]] void execute(const std::vector<std::string>& command, int output, int error);

// Waits for the end, without reaping; whether it has come. Throws std::system_error.
bool ends_within(const multiprocessing::ProcessHandle& process, std::chrono::milliseconds patience);

}  // namespace tensorplay::tpbench
