#include "lib/base/seconds_text.h"

#include <array>
#include <cstdio>

namespace tensorplay {

std::string seconds_text(std::chrono::nanoseconds duration) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", std::chrono::duration<double>(duration).count());
  return text.data();
}

}  // namespace tensorplay
