// The arithmetic of the reductions: one kernel per element type and operation.
//
// A kernel folds its sources from the left, in the order given, element by element:
//
//     destination[i] := ((s[0][i] op s[1][i]) op s[2][i]) ...
//
// so that the same sources in the same order give the same bits, whatever the width of the
// machine's vectors, the alignment or the count. float16 and bfloat16 are converted to float,
// folded there and rounded once. Integers wrap around. avg is the sum divided once, by `divisor`,
// at the end (integers truncate towards zero; halves are divided in float, before the rounding).
// min and max give NaN if any value is NaN, and order -0 before +0.
//
// A result that is NaN is always the same one, quiet and positive, with no payload: which operand's
// NaN an instruction hands on differs between machines. That holds for one source as well.
#pragma once

#include <tensorplay/distributed/reduce_op.h>
#include <tensorplay/element.h>

#include <cstddef>
#include <cstdint>

namespace tensorplay::reduce {

// What a kernel works on. `destination` may be one of the sources, or must not overlap them.
// Pointers are aligned to the element's size at least; `source_count` is at least 1.
struct ReduceTask {
  void* destination = nullptr;
  const void* const* sources = nullptr;
  std::size_t source_count = 0;
  std::size_t count = 0;      // elements
  std::uint32_t divisor = 1;  // for avg: at least 1
};

using ReduceKernel = void (*)(const ReduceTask& task);

// Whether the pair means anything: bitwise operations are for integers only.
bool is_defined(DType dtype, distributed::ReduceOp op) noexcept;

// The kernel for the best vector unit of this CPU. Throws InvalidArgument for a pair that isn't
// defined, naming both, and for values that name no type or operation. Thread-safe; the choice is
// made once per process.
ReduceKernel kernel_for(DType dtype, distributed::ReduceOp op);

}  // namespace tensorplay::reduce
