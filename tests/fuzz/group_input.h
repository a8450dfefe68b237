// A group of two, one of which is driven by whatever a fuzzer makes up.
#pragma once

#include "tests/fuzz/input_bytes.h"

#include <cstdint>
#include <vector>

namespace tensorplay::fuzz {

// This process is rank 0: it calls collectives, asks for their results, enters Join contexts and
// splits, with a time-out of some milliseconds, while the words of rank 1, in its member's block,
// on its boards and beside its life, are written as the input says: right answers, almost right
// ones, and arbitrary bytes anywhere. Errors of this library are right answers; anything else is a
// finding: a crash, a wild access, a loop. Nothing is left behind.
//
// Two things aren't changed. The mutexes, in which the C library keeps its own lists: whoever
// damages those of a process ends it. And an operation's count stays below some millions: what a
// follower can't know can't be checked, and it takes as much memory as the others say.
void drive_group_by(Bytes input);

// Inputs to begin with.
std::vector<std::vector<std::uint8_t>> group_seeds();

}  // namespace tensorplay::fuzz
