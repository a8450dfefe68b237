// Where random tests start from.
#pragma once

#include <cstdint>

namespace tensorplay::sync {

// $TENSORPLAY_TEST_SEED, or else a new number.
std::uint64_t seed_of_test();

}  // namespace tensorplay::sync
