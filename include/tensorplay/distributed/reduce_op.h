// The reductions.
#pragma once

#include <cstdint>

namespace tensorplay::distributed {

// How the values of the contributing ranks become one. The order is fixed: rank 0, then 1, ...,
// so that every rank holds the same bits, in every run. float16 and bfloat16 are accumulated in
// float and rounded once; integers wrap around. Part of the segment's binary interface: values are
// fixed.
enum class ReduceOp : std::uint8_t {
  sum = 1,
  avg = 2,  // the sum divided once by the number of contributors; integers truncate towards 0
  product = 3,
  min = 4,   // a NaN among the values gives NaN
  max = 5,   // a NaN among the values gives NaN
  band = 6,  // bitwise and, integers only
  bor = 7,   // bitwise or, integers only
  bxor = 8,  // bitwise exclusive or, integers only
};

// "sum" ... "bxor"; "unknown" for a value that names no reduction.
const char* name(ReduceOp op) noexcept;

}  // namespace tensorplay::distributed
