#include "tools/tprun/job.h"

#include <cstdio>
#include <random>

namespace tensorplay::tprun {

std::string random_name() {
  std::random_device device;
  std::string name;
  for (int word = 0; word < 4; ++word) {
    char digits[9];
    std::snprintf(digits, sizeof(digits), "%08x", device());
    name += digits;
  }
  return name;
}

}  // namespace tensorplay::tprun
