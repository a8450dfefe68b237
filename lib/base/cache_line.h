// How far apart words must lie that different ranks write.
#pragma once

#include <cstddef>

namespace tensorplay {

// Fixed numbers instead of std::hardware_destructive_interference_size: that one may differ between
// two compilers, or two -mtune flags of one, and processes built apart must agree on the layout of
// a segment.

// What one core takes from another at a time. Words that are written and read together share a line
// of this size.
inline constexpr std::size_t kLineBytes = 64;

// The distance between words with different writers: two lines, because the prefetchers of current
// x86 cores fetch lines in pairs, and because some other cores have lines of 128 bytes.
inline constexpr std::size_t kSeparationBytes = 128;

static_assert(kSeparationBytes % kLineBytes == 0);

}  // namespace tensorplay
