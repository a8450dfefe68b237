// What tells one job from another.
#pragma once

#include <string>

namespace tensorplay::tprun {

// 128 random bits in hexadecimal.
std::string random_name();

}  // namespace tensorplay::tprun
