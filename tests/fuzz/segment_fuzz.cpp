// The libFuzzer program of segment_input.h.

#include "tests/fuzz/bounded_run.h"
#include "tests/fuzz/segment_input.h"

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  tensorplay::fuzz::bound_run(tensorplay::fuzz::segment_seeds(), argc, argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tensorplay::fuzz::open_segment_of({data, size});
  return 0;
}
