// What a Join context has to tell when it has ended.
#pragma once

#include <tensorplay/distributed/contributors.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace tensorplay::distributed::algorithms {

// The account of one context. Equal on all ranks.
struct JoinReport {
  struct Rank {
    std::int64_t iterations = 0;  // that the rank announced by notify_join_context
    std::int64_t shadowed = 0;    // that others did after it had joined: the maximum minus its own
    // From joining until the last rank joined: what the rank spent waiting for the others.
    std::chrono::nanoseconds waiting{0};
  };

  bool enabled = false;         // false: the context was disabled, nothing else is filled in
  std::vector<Rank> ranks;      // one per rank of the group
  Contributors last_joiners;    // the ranks that missed no iteration
  int authoritative_rank = -1;  // the greatest of them: whose state is the final one
};

// A table, one line per rank, for people.
std::string to_string(const JoinReport& report);

}  // namespace tensorplay::distributed::algorithms
