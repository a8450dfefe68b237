#include "tools/tpbench/pattern.h"

#include <tensorplay/error.h>

#include <algorithm>
#include <cassert>
#include <type_traits>

namespace tensorplay::tpbench {
namespace {

using distributed::CollectiveKind;
using distributed::ReduceOp;

template <typename Function>
auto with_type(DType dtype, Function&& function) {
  switch (dtype) {
    case DType::int8:
      return function(std::int8_t{});
    case DType::int16:
      return function(std::int16_t{});
    case DType::int32:
      return function(std::int32_t{});
    case DType::int64:
      return function(std::int64_t{});
    case DType::uint8:
      return function(std::uint8_t{});
    case DType::uint16:
      return function(std::uint16_t{});
    case DType::uint32:
      return function(std::uint32_t{});
    case DType::uint64:
      return function(std::uint64_t{});
    case DType::float16:
      return function(float16{});
    case DType::bfloat16:
      return function(bfloat16{});
    case DType::float32:
      return function(float{});
    case DType::float64:
      return function(double{});
  }
  throw InvalidArgument("a point names no element type");
}

template <typename T>
T make(double value) {
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
    return T(static_cast<float>(value));
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::int64_t>(value));  // wraps around as reductions do
  } else {
    return static_cast<T>(value);
  }
}

// 1, 2 or 3; 1 or 2 for products, which would grow beyond what types hold.
int source_value(ReduceOp op, int rank, std::size_t index, Turn turn) {
  std::uint64_t mixed = turn.number + static_cast<std::uint64_t>(rank);
  if (turn.is_varied) {
    mixed += index * 0x9E3779B97F4A7C15U;
    mixed ^= mixed >> 29;
  }
  return 1 + static_cast<int>(mixed % (op == ReduceOp::product ? 2 : 3));
}

std::int64_t fold(ReduceOp op, std::int64_t left, std::int64_t right) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::avg:
      return left + right;
    case ReduceOp::product:
      return left * right;
    case ReduceOp::min:
      return std::min(left, right);
    case ReduceOp::max:
      return std::max(left, right);
    case ReduceOp::band:
      return left & right;
    case ReduceOp::bor:
      return left | right;
    case ReduceOp::bxor:
      return left ^ right;
  }
  return 0;
}

double reduced(const Point& point, std::size_t index, Turn turn) {
  std::int64_t result = source_value(point.op, 0, index, turn);
  for (int rank = 1; rank < point.ranks; ++rank) {
    result = fold(point.op, result, source_value(point.op, rank, index, turn));
  }
  return point.op == ReduceOp::avg ? static_cast<double>(result) / point.ranks
                                   : static_cast<double>(result);
}

double expected(const Point& point, int rank, std::size_t index, Turn turn) {
  const std::size_t block = point.block_count();
  const auto own = static_cast<std::size_t>(rank) * block;
  switch (point.kind) {
    case CollectiveKind::barrier:
      return 0;
    case CollectiveKind::all_reduce:
    case CollectiveKind::all_reduce_shared:
      return reduced(point, index, turn);
    case CollectiveKind::reduce:
      return rank == kRoot ? reduced(point, index, turn)
                           : source_value(point.op, rank, index, turn);
    case CollectiveKind::broadcast:
      return source_value(point.op, kRoot, index, turn);
    case CollectiveKind::all_gather:
    case CollectiveKind::gather:
      return source_value(point.op, static_cast<int>(index / block), index % block, turn);
    case CollectiveKind::reduce_scatter:
      return reduced(point, own + index, turn);
    case CollectiveKind::scatter:
      return source_value(point.op, kRoot, own + index, turn);
    case CollectiveKind::all_to_all:
      return source_value(point.op, static_cast<int>(index / block), own + index % block, turn);
  }
  return 0;
}

template <typename T>
void fill_as(const Point& point, int rank, Turn turn, std::span<T> values) {
  if (!turn.is_varied) {
    std::fill(values.begin(), values.end(), make<T>(source_value(point.op, rank, 0, turn)));
    return;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = make<T>(source_value(point.op, rank, i, turn));
  }
}

template <typename T>
std::string text_of(T value) {
  return std::to_string(static_cast<double>(
      static_cast<
          std::conditional_t<std::is_integral_v<T> || std::is_floating_point_v<T>, T, float>>(
          value)));
}

template <typename T>
std::string check_as(const Point& point, int rank, Turn turn, std::span<const T> values,
                     std::size_t probes) {
  const std::size_t step = std::max<std::size_t>(1, values.size() / probes);
  for (std::size_t i = 0; i < values.size(); i += step) {
    const T wanted = make<T>(expected(point, rank, i, turn));
    if (values[i] == wanted) continue;
    return "element " + std::to_string(i) + " of rank " + std::to_string(rank) + " is " +
           text_of(values[i]) + ", not " + text_of(wanted);
  }
  return "";
}

}  // namespace

void fill(const Point& point, int rank, Turn turn, std::span<std::byte> source) {
  with_type(point.dtype, [&]<typename T>(T) {
    fill_as<T>(point, rank, turn, {reinterpret_cast<T*>(source.data()), source.size() / sizeof(T)});
  });
}

std::string check(const Point& point, int rank, Turn turn, std::span<const std::byte> destination,
                  std::size_t probes) {
  // Elsewhere than on the root there is nothing to look at.
  if (point.is_barrier() || (point.kind == CollectiveKind::gather && rank != kRoot)) return "";
  return with_type(point.dtype, [&]<typename T>(T) {
    return check_as<T>(
        point, rank, turn,
        {reinterpret_cast<const T*>(destination.data()), destination.size() / sizeof(T)}, probes);
  });
}

}  // namespace tensorplay::tpbench
