// A copy that goes past the caches.
#pragma once

#include <cstddef>

namespace tensorplay::reduce {

// Copies as std::memcpy does: the ranges must not overlap, and may begin and end anywhere. Whole
// lines of the destination are written by streaming stores, of the best vector unit of this CPU,
// and aren't in its caches afterwards; what is left at both ends is written as usual. All of it is
// visible to whoever sees a release store that this thread makes afterwards: on x86 such a store
// alone wouldn't wait for the streaming ones.
//
// Where a CPU has no such stores, and under the thread sanitizer, which doesn't see them, it is
// std::memcpy. Thread-safe.
void streaming_copy(void* destination, const void* source, std::size_t bytes) noexcept;

}  // namespace tensorplay::reduce
