// Sizes as people write them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tensorplay::tpbench {

// "4:64Mi": 4 and its multiples by powers of 4 up to 64 MiB; "4:64Mi:2": by powers of 2. Otherwise
// a list: "4,1Ki,16Ki". A number may end in Ki, Mi or Gi. Ascending, without duplicates. Throws
// InvalidArgument for anything else, 0, and more than 4 GiB.
std::vector<std::size_t> parse_sizes(const std::string& text);

}  // namespace tensorplay::tpbench
