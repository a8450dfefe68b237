#include "lib/reduce/reduce_kernel.h"

#include <tensorplay/error.h>

#include <string>

#include "lib/reduce/vector_kernels.h"

namespace tensorplay::reduce {
namespace {

using distributed::ReduceOp;

bool is_floating_point(DType dtype) noexcept {
  return dtype == DType::float16 || dtype == DType::bfloat16 || dtype == DType::float32 ||
         dtype == DType::float64;
}

bool is_bitwise(ReduceOp op) noexcept {
  return op == ReduceOp::band || op == ReduceOp::bor || op == ReduceOp::bxor;
}

bool names_an_operation(ReduceOp op) noexcept {
  return op >= ReduceOp::sum && op <= ReduceOp::bxor;
}

// The number as well where there is no name: it tells what was cast or overwritten.
template <typename Enum>
std::string describe(Enum value, bool is_known) {
  if (is_known) return name(value);
  return "unknown (" + std::to_string(static_cast<unsigned>(value)) + ")";
}

[[noreturn]] void throw_undefined(DType dtype, ReduceOp op) {
  const bool is_known_type = element_bytes(dtype) != 0;
  const bool is_known_operation = names_an_operation(op);
  std::string message = "the reduction " + describe(op, is_known_operation) +
                        " is not defined for elements of type " + describe(dtype, is_known_type);
  if (is_known_type && is_known_operation) {
    message += ": bitwise reductions take integers; use sum, avg, product, min or max";
  } else {
    message += ": use a value of tensorplay::DType and one of tensorplay::distributed::ReduceOp";
  }
  throw InvalidArgument(message);
}

}  // namespace

bool is_defined(DType dtype, ReduceOp op) noexcept {
  if (element_bytes(dtype) == 0 || !names_an_operation(op)) return false;
  return !(is_bitwise(op) && is_floating_point(dtype));
}

ReduceKernel kernel_for(DType dtype, ReduceOp op) {
  if (!is_defined(dtype, op)) throw_undefined(dtype, op);
  return is_floating_point(dtype) ? float_kernel_for(dtype, op) : integer_kernel_for(dtype, op);
}

}  // namespace tensorplay::reduce
