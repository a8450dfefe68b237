// What a member of a group has called, read from its arrival lines for a report.
#pragma once

#include "lib/shm/layout.h"

#include <tensorplay/distributed/collective_call.h>

#include <cstdint>
#include <optional>
#include <string>

namespace tensorplay::distributed {

struct PostedCall {
  std::uint64_t number = 0;
  CollectiveCall call;  // without buffers
  // Of the result of an all_reduce_shared, by which the ranks compare it; else 0.
  std::uint64_t place = 0;
  bool shadow = false;
  std::uint32_t context = 0;  // fingerprint
};

// The member's call number `number`. Nothing if the member hasn't made it, if it was so long ago
// that its line is being used again, or if what the line says can't be right. The member may go on
// meanwhile.
std::optional<PostedCall> posted_call(shm::MemberBlock& member, std::uint64_t number,
                                      int world_size);

// The number of the last call of the member; 0 if there is none.
std::uint64_t last_posted(const shm::MemberBlock& member) noexcept;

// "all_reduce (sum, float32, 10 elements)"; with what it is a part of, if it isn't a call of the
// user's: "all_gather (int32, 2 elements) of split()".
std::string describe(const CollectiveCall& call);

}  // namespace tensorplay::distributed
