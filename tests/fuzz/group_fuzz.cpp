// The libFuzzer program of group_input.h.

#include "tests/fuzz/bounded_run.h"
#include "tests/fuzz/group_input.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  tensorplay::fuzz::bound_run(tensorplay::fuzz::group_seeds(), argc, argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tensorplay::fuzz::drive_group_by({data, size});
  return 0;
}
