// A file under a segment's name, made of anything.
#pragma once

#include "tests/fuzz/input_bytes.h"

#include <cstdint>
#include <vector>

namespace tensorplay::fuzz {

// Puts a file that the input describes into /dev/shm (arbitrary bytes, or a segment with words
// changed, cut or lengthened), opens it as a segment, looks at its ranks, and takes a place. Errors
// of this library are right answers; anything else is a finding. Nothing is left behind.
void open_segment_of(Bytes input);

// Inputs to begin with.
std::vector<std::vector<std::uint8_t>> segment_seeds();

}  // namespace tensorplay::fuzz
