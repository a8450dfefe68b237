// What every member of a group is doing: the part that all reports of a group end with.
#pragma once

#include "lib/collectives/group_memory.h"
#include "lib/distributed/membership.h"

#include <tensorplay/distributed/contributors.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tensorplay::distributed {

// "rank 2", or "rank 2 (rank 5 of the job)" in a sub-group; with its process: "rank 2 (pid 4711)".
std::string rank_label(const collectives::GroupMemory& memory, int member);
std::string process_label(const collectives::GroupMemory& memory, int member);

// The member's call number `number`, as far as it can still be read: "barrier, operation 7".
std::string described_call(const collectives::GroupMemory& memory, int member,
                           std::uint64_t number);

// One line for each of the members; in a large group, one for all of whom the same is true:
//
//   rank 0 (pid 4710): waiting in barrier, operation 7, for 1.5 s
//   rank 1 (pid 4711): in user code for 3.1 s (running); last call: barrier, operation 6
//   rank 2 (pid 4712): stopped by a signal; with barrier, operation 7, under way, for 1.5 s
//   rank 3 (pid 4713): was ended by signal 9 (Killed); last call: barrier, operation 6
//
// `membership` is that of the rank that asks. Words of living ranks are read while they change: a
// line may be a moment old.
std::vector<std::string> whereabouts(const collectives::GroupMemory& memory,
                                     const Membership& membership, const Contributors& members);

// `text`, then each line on one of its own, then `end`; without lines that find no room in a
// failure's record, of which it tells the number.
std::string with_lines(std::string text, const std::vector<std::string>& lines,
                       const std::string& end);

}  // namespace tensorplay::distributed
