// The sentences in which a group tells what went wrong.
#pragma once

#include "lib/collectives/group_memory.h"
#include "lib/distributed/failure.h"
#include "lib/distributed/membership.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace tensorplay::distributed {

// What a rank waits for, since when, and how long at most.
struct AwaitedEvent {
  std::string where;         // "in barrier, operation 7"
  std::uint64_t number = 0;  // of the operation; 0 if it isn't one
  std::chrono::steady_clock::time_point since{};
  std::chrono::nanoseconds timeout{};  // after that the group has failed
  const char* limit = "the group's timeout";
  std::optional<std::chrono::nanoseconds> call_timeout =
      std::nullopt;  // after that this wait alone ends
};

// What the ranks called under operation `number`: the aspects in which they differ, then the last
// few calls of each. Gives those who haven't called it yet a moment, 20 ms at most: the more have,
// the clearer it is who is wrong.
std::string describe_mismatch(const collectives::GroupMemory& memory, const Membership& membership,
                              std::uint64_t number);

// The root of an operation is gone; `others` take part.
Failure lost_root(const collectives::GroupMemory& memory, int root, const std::string& what,
                  const Contributors& others);

// A member that was awaited is gone: how, where it was awaited, and what the others are doing.
Failure peer_failure(const collectives::GroupMemory& memory, const Membership& membership,
                     int member, const AwaitedEvent& event);

// A member is gone before all have started.
Failure start_failure(const collectives::GroupMemory& memory, const Membership& membership,
                      int member);

// This rank leaves by an exception: `how` says from where, and by which.
Failure raised_failure(const collectives::GroupMemory& memory, const Membership& membership,
                       const std::string& how);

// The group's Join contexts of that number differ: who has which.
Failure context_mismatch(const collectives::GroupMemory& memory, std::uint64_t generation);

// Nothing happened for `waited`: who is awaited, and what every member is doing. To be thrown, or
// to be recorded as the group's failure.
Failure timeout_failure(const collectives::GroupMemory& memory, const Membership& membership,
                        const Contributors& awaited, const AwaitedEvent& event,
                        std::chrono::nanoseconds waited);

}  // namespace tensorplay::distributed
