// A process that does to the ranks what comes from outside: wakes the stopped, kills and stops at
// given times.
#pragma once

#include "tests/faults/fault.h"

#include <sys/types.h>

#include <vector>

namespace tensorplay::faults {

class Notebook;

class Warden {
 public:
  // Begins to watch the ranks of a trial, if any of the faults asks for it.
  Warden(const std::vector<Fault>& faults, Notebook& notebook);
  ~Warden();
  Warden(const Warden&) = delete;
  Warden& operator=(const Warden&) = delete;

 private:
  pid_t pid_ = -1;
};

}  // namespace tensorplay::faults
