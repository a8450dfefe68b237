// Whether the arguments of a call can be right: all that one rank can tell by itself.
#pragma once

#include <tensorplay/distributed/collective_call.h>

namespace tensorplay::distributed {

// Throws InvalidArgument for a root outside the group, a reduction that isn't defined for the type,
// a source over the limit, a null buffer where bytes are wanted, buffers that overlap other than
// the method allows.
void check_call(const CollectiveCall& call, int rank, int world_size);

// Whether a call that was read from the segment can be right; what check_call() would throw for,
// its buffers apart.
bool is_sound(const CollectiveCall& call, int world_size) noexcept;

}  // namespace tensorplay::distributed
