// Where in this mapping a buffer lies that a peer's arrival names.
#pragma once

#include "lib/collectives/exchange.h"

#include <cstddef>

namespace tensorplay::collectives {

// The address of the `index`-th buffer that the member's arrival at this operation names by its
// offset, of `bytes` bytes. Throws SegmentError if it doesn't lie wholly in the member's arena.
std::byte* place_in_arena(const Exchange& exchange, int member, std::size_t index,
                          std::size_t bytes);

}  // namespace tensorplay::collectives
