// Where the kernels come from: each of these asks for the best vector unit of this CPU among those
// that the compiler could generate code for. Only reduce_kernel.cpp should need this header.
#pragma once

#include "lib/reduce/reduce_kernel.h"

namespace tensorplay::reduce {

// The kernel for a pair that is defined; null for a type of the other family, or for a value that
// names no type or operation.
ReduceKernel integer_kernel_for(DType dtype, distributed::ReduceOp op);
ReduceKernel float_kernel_for(DType dtype, distributed::ReduceOp op);

}  // namespace tensorplay::reduce
