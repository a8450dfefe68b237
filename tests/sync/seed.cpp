#include "tests/sync/seed.h"

#include <cstdlib>
#include <random>

namespace tensorplay::sync {

std::uint64_t seed_of_test() {
  const char* given = std::getenv("TENSORPLAY_TEST_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
}

}  // namespace tensorplay::sync
