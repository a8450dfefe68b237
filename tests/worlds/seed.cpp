#include "tests/worlds/world_test.h"

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace tensorplay::worlds {

std::uint64_t seed_of_test(std::string_view test) {
  std::uint64_t seed = 0;
  if (const char* given = std::getenv("TENSORPLAY_TEST_SEED"); given != nullptr) {
    seed = std::strtoull(given, nullptr, 0);
  } else {
    seed = std::random_device{}();
  }
  std::printf("%s: TENSORPLAY_TEST_SEED=%llu\n", std::string(test).c_str(),
              static_cast<unsigned long long>(seed));
  std::fflush(stdout);
  return seed;
}

}  // namespace tensorplay::worlds
