// What this rank knows of who takes part in its group's operations. Private to the process.
#pragma once

#include <tensorplay/distributed/contributors.h>

#include <cstdint>

namespace tensorplay::distributed {

// Outside of join contexts everybody takes part. Inside one, members become absent for good, until
// the context ends.
struct Membership {
  // Join contexts entered so far; the number of the current one, inside.
  std::uint64_t generation = 0;
  bool inside = false;  // an enabled context
  // Absences from operations before this one belong to earlier contexts.
  std::uint64_t context_begin = 1;
  Contributors absent;  // members known to take no part until the context ends

  // What this rank's arrivals say about the context; all 0 outside.
  std::uint32_t fingerprint = 0;
  std::uint32_t iteration = 0;
  std::uint16_t tag = 0;  // of calls through handles that carry none
};

}  // namespace tensorplay::distributed
