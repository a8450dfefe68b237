// What a fuzzer is told when a test starts it.
#pragma once

#include <cstdint>
#include <vector>

namespace tensorplay::fuzz {

// For LLVMFuzzerInitialize(): without arguments, as a test, the fuzzer begins with these inputs and
// runs for 20 seconds. Arguments of its own are left as they are: -help=1 lists them.
void bound_run(const std::vector<std::vector<std::uint8_t>>& seeds, int* argc, char*** argv);

}  // namespace tensorplay::fuzz
