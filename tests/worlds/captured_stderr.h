// Reads what this process and its children write to stderr.
#pragma once

#include <string>

namespace tensorplay::worlds {

// From its making until text() or its end, stderr goes to memory instead.
class CapturedStderr {
 public:
  CapturedStderr();
  ~CapturedStderr();
  CapturedStderr(const CapturedStderr&) = delete;
  CapturedStderr& operator=(const CapturedStderr&) = delete;

  // Ends the capture; gives what was written.
  std::string text();

 private:
  void restore() noexcept;

  int saved_ = -1;
  int memory_ = -1;
};

}  // namespace tensorplay::worlds
