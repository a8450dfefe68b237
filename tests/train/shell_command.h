// Commands of a shell, as a user types them.
#pragma once

#include <string>

namespace tensorplay::train {

struct Outcome {
  int exit_code = -1;  // 128 + signal where a signal ended the command
  std::string output;  // what it wrote to its standard output
  std::string error;   // ... and to its standard error
};

// Runs `command` in sh and waits for its end.
Outcome run_shell(const std::string& command);

}  // namespace tensorplay::train
