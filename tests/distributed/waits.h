// What a rank can wait in for the others.
#pragma once

#include "tests/distributed/counter.h"

#include <tensorplay/distributed/process_group.h>

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

namespace tensorplay::distributed {

struct Wait {
  const char* name;
  // Waits, as a rank that has made one operation of the group before.
  std::function<void(ProcessGroup&, Counter&)> act;
  bool of_context;    // it waits for something of the Join context
  bool throws_early;  // the context's throw_on_early_termination
  const char* words;  // by which a failure names it

  friend std::ostream& operator<<(std::ostream& out, const Wait& wait);
};

const std::vector<Wait>& all_waits();

}  // namespace tensorplay::distributed
