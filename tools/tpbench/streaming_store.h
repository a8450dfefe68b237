// Stores that go past the cache: where another core is going to read, they cost no ownership.
#pragma once

#include <cstddef>
#include <span>

namespace tensorplay::tpbench {

// Fills `bytes` with `value`, whole cache lines by streaming stores where the machine has them. All
// of it is visible before whatever this thread stores next.
void stream_fill(std::span<std::byte> bytes, unsigned char value);

}  // namespace tensorplay::tpbench
