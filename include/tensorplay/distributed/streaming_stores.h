// How the results of large operations are copied to where the caller wants them.
#pragma once

#include <cstdint>

namespace tensorplay::distributed {

// Streaming (non-temporal) stores write whole cache lines to memory without reading them first, and
// leave nothing in the caches. That pays where a result doesn't fit into the caches anyway, and
// costs where whoever reads it next would have found it there. Chosen once per job, the same on all
// ranks. Results are the same bits either way.
//
// What is copied: results of broadcast, scatter, gather, all_gather and all_to_all of 256 KiB or
// more on one rank, from sources of more than 8 KiB. An all_reduce writes to where it has just
// read, which never paid where it was measured; the other reductions copy nothing.
enum class StreamingStores : std::uint32_t {
  // By measurement. The first operation whose result has 256 KiB or more, and again 1, 4, 16 and 64
  // MiB or more, takes longer: both ways are timed, in the memory that the result goes to. That is
  // 1 to 30 ms, growing with the class, and several times as much where ranks share CPUs. What the
  // first rank has found counts for all ranks of the job, until it ends.
  automatic = 0,
  never = 1,
  always = 2,  // for all_reduce, too
};

// "auto", "never", "always".
const char* name(StreamingStores choice) noexcept;

}  // namespace tensorplay::distributed
