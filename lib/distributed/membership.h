// What this rank knows of who takes part in its group's operations. Private to the process.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace tensorplay::distributed {

// Outside of join contexts everybody takes part. Inside one, members become absent for good, until
// the context ends.
struct Membership {
  // Join contexts entered so far; the number of the current one, inside.
  std::uint64_t generation = 0;
  bool inside = false;  // an enabled context
  // Absences from operations before this one belong to earlier contexts.
  std::uint64_t context_begin = 1;
  // The operation from which on each member is known to take no part; kPresent if it isn't. Not a
  // set: while operation n is under way a member may take part in it and be absent from n + 1.
  std::vector<std::uint64_t> absent_from;

  static constexpr std::uint64_t kPresent = std::numeric_limits<std::uint64_t>::max();
  bool is_absent(int member, std::uint64_t number) const noexcept {
    return absent_from[static_cast<std::size_t>(member)] <= number;
  }
  int absent_count() const noexcept {
    return static_cast<int>(absent_from.size()) -
           static_cast<int>(std::count(absent_from.begin(), absent_from.end(), kPresent));
  }

  // What this rank's arrivals say about the context; all 0 outside.
  std::uint32_t fingerprint = 0;
  std::uint32_t iteration = 0;
  std::uint16_t tag = 0;  // of calls through handles that carry none
};

}  // namespace tensorplay::distributed
