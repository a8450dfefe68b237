// Which stores the copies of large operations use to write to their destinations.
//
// Streaming stores save the reading of a line that is going to be overwritten, and lose the copy
// that would have stayed in the cache for whoever reads the result. Which of them weighs more
// depends on the machine, on its load, and on the size: so it is measured, once per job and class
// of sizes, by the rank that comes to it first. Several that come at once all measure, under the
// load that their copies will make, and one finding counts.
#pragma once

#include "lib/collectives/exchange.h"

#include <cstddef>
#include <span>

namespace tensorplay::collectives {

// Whether the copies of this operation should stream. Once it is settled, the same answer on all
// ranks that copy. May measure in the destination, which the operation will overwrite.
//
// An all_reduce is never measured: it writes to where it has just read, so the lines are in the
// cache. It streams only where all are told to. What kernels write, they write plainly.
bool copies_stream(const Exchange& exchange) noexcept;

// The class of destinations of so many bytes: 0 ... kCopyClasses - 1; -1 for those that are too
// small to be a question.
int copy_class(std::size_t destination_bytes) noexcept;

// Times both ways on `memory`, whose contents are lost: its first 32 MiB are written in pieces as
// large as the runs copy them, from one that stays in the cache, and then read from the beginning,
// as by who uses a result. The ways take turns, 8 at most, and no second one if 4 ms wouldn't
// suffice for it; of memory that takes more than 15 ms to be there, only what is by then.
// `streaming` only if its median piece takes 10 % less, writing and reading.
shm::CopyStores measure_stores(std::span<std::byte> memory) noexcept;

}  // namespace tensorplay::collectives
