// Durations as messages tell them.
#pragma once

#include <chrono>
#include <string>

namespace tensorplay {

// In seconds, with one digit after the point and without the unit: "1.5".
std::string seconds_text(std::chrono::nanoseconds duration);

}  // namespace tensorplay
