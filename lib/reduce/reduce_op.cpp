#include <tensorplay/distributed/reduce_op.h>

namespace tensorplay::distributed {

const char* name(ReduceOp op) noexcept {
  switch (op) {
    case ReduceOp::sum:
      return "sum";
    case ReduceOp::avg:
      return "avg";
    case ReduceOp::product:
      return "product";
    case ReduceOp::min:
      return "min";
    case ReduceOp::max:
      return "max";
    case ReduceOp::band:
      return "band";
    case ReduceOp::bor:
      return "bor";
    case ReduceOp::bxor:
      return "bxor";
  }
  // The value came out of shared memory, or of a cast.
  return "unknown";
}

}  // namespace tensorplay::distributed
