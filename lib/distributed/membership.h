// What this rank knows of who takes part in its group's operations. Private to the process.
#pragma once

#include "lib/collectives/group_memory.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace tensorplay::distributed {

// Outside of join contexts everybody takes part. Inside one, members become absent for good, until
// the context ends. Where a peer's death is survived, the dead are absent for ever.
struct Membership {
  explicit Membership(int size)
      : absent_from(static_cast<std::size_t>(size), kPresent), lost_from(absent_from) {}

  // Join contexts entered so far; the number of the current one, inside.
  std::uint64_t generation = 0;
  bool inside = false;  // an enabled context
  // Nobody has entered the next context before: it begins when all have joined in the last one.
  std::chrono::steady_clock::time_point next_context_from{};
  // Absences from operations before this one belong to earlier contexts.
  std::uint64_t context_begin = 1;
  // The operation from which on each member is known to take no part; kPresent if it isn't. Not a
  // set: while operation n is under way a member may take part in it and be absent from n + 1.
  std::vector<std::uint64_t> absent_from;
  // The members that are gone, as far as this rank has had to know; and the operation after the
  // last one that each of them had posted. Read from the words that only the gone member had
  // written: so every survivor finds the same, whenever it looks.
  collectives::MemberSet lost;
  std::vector<std::uint64_t> lost_from;

  static constexpr std::uint64_t kPresent = std::numeric_limits<std::uint64_t>::max();
  bool is_absent(int member, std::uint64_t number) const noexcept {
    return absent_from[static_cast<std::size_t>(member)] <= number;
  }
  void lose(int member, std::uint64_t from) {
    lost.insert(member);
    lost_from[static_cast<std::size_t>(member)] = from;
    auto& absent = absent_from[static_cast<std::size_t>(member)];
    absent = std::min(absent, from);
  }
  // From operation `number` on all are present again, but for the lost.
  void begin_anew(std::uint64_t number) {
    context_begin = number;
    absent_from = lost_from;
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
