#include "tools/tpbench/own_subject.h"

#include <tensorplay/error.h>

#include <array>
#include <functional>
#include <span>
#include <utility>

namespace tensorplay::tpbench {
namespace {

using distributed::CollectiveKind;
using distributed::ProcessGroup;
using distributed::Work;

// One operation to make on one set of buffers, by either call.
struct Caller {
  std::function<void()> block;
  std::function<Work()> start;
};

template <typename T>
std::span<T> as(std::span<std::byte> bytes) {
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

template <Element T>
Caller shared_caller(ProcessGroup& group, distributed::ReduceOp op, std::span<const T> values,
                     std::span<const T> result) {
  return {[=, &group] { group.all_reduce_shared(values, result, op); },
          [=, &group] { return group.all_reduce_shared_async(values, result, op); }};
}

template <Element T>
Caller caller(ProcessGroup& group, const Point& point, const Subject::Buffers& buffers) {
  const std::span<T> source = as<T>(buffers.source), target = as<T>(buffers.destination);
  const auto op = point.op;
  switch (point.kind) {
    case CollectiveKind::barrier:
      return {[&group] { group.barrier(); }, [&group] { return group.barrier_async(); }};
    case CollectiveKind::all_reduce:
      if (point.memory == Memory::shared) return shared_caller<T>(group, op, source, target);
      return {[=, &group] { group.all_reduce(source, op); },
              [=, &group] { return group.all_reduce_async(source, op); }};
    case CollectiveKind::reduce:
      return {[=, &group] { group.reduce(source, kRoot, op); },
              [=, &group] { return group.reduce_async(source, kRoot, op); }};
    case CollectiveKind::broadcast:
      return {[=, &group] { group.broadcast(source, kRoot); },
              [=, &group] { return group.broadcast_async(source, kRoot); }};
    case CollectiveKind::all_gather:
      return {[=, &group] { group.all_gather<T>(source, target); },
              [=, &group] { return group.all_gather_async<T>(source, target); }};
    case CollectiveKind::reduce_scatter:
      return {[=, &group] { group.reduce_scatter<T>(source, target, op); },
              [=, &group] { return group.reduce_scatter_async<T>(source, target, op); }};
    case CollectiveKind::gather:
      return {[=, &group] { group.gather<T>(source, target, kRoot); },
              [=, &group] { return group.gather_async<T>(source, target, kRoot); }};
    case CollectiveKind::scatter:
      return {[=, &group] { group.scatter<T>(source, target, kRoot); },
              [=, &group] { return group.scatter_async<T>(source, target, kRoot); }};
    case CollectiveKind::all_to_all:
      return {[=, &group] { group.all_to_all<T>(source, target); },
              [=, &group] { return group.all_to_all_async<T>(source, target); }};
    case CollectiveKind::all_reduce_shared:
      break;  // a place of memory, not a point
  }
  throw InvalidArgument("a point names no collective");
}

std::function<void()> runner(std::vector<Caller> callers) {
  if (callers.size() == 1) return std::move(callers.front().block);
  return [callers = std::move(callers)] {
    std::array<Work, kCallsInFlight> works;
    for (std::size_t i = 0; i < callers.size(); ++i) works[i] = callers[i].start();
    for (std::size_t i = 0; i < callers.size(); ++i) works[i].wait();
  };
}

Caller caller_for(ProcessGroup& group, const Point& point, const Subject::Buffers& buffers) {
  switch (point.dtype) {
    case DType::int8:
      return caller<std::int8_t>(group, point, buffers);
    case DType::int16:
      return caller<std::int16_t>(group, point, buffers);
    case DType::int32:
      return caller<std::int32_t>(group, point, buffers);
    case DType::int64:
      return caller<std::int64_t>(group, point, buffers);
    case DType::uint8:
      return caller<std::uint8_t>(group, point, buffers);
    case DType::uint16:
      return caller<std::uint16_t>(group, point, buffers);
    case DType::uint32:
      return caller<std::uint32_t>(group, point, buffers);
    case DType::uint64:
      return caller<std::uint64_t>(group, point, buffers);
    case DType::float16:
      return caller<float16>(group, point, buffers);
    case DType::bfloat16:
      return caller<bfloat16>(group, point, buffers);
    case DType::float32:
      return caller<float>(group, point, buffers);
    case DType::float64:
      return caller<double>(group, point, buffers);
  }
  throw InvalidArgument("a point names no element type");
}

}  // namespace

OwnSubject::OwnSubject(ProcessGroup& group, const Point& point) : group_(group), point_(point) {
  if (!point.can_lie_in(point.memory)) {
    throw InvalidArgument("a point names memory that its collective doesn't know");
  }
  std::vector<Caller> callers;
  for (int i = 0; i < point.buffer_sets(); ++i) {
    subject_.buffers.push_back(make_buffers());
    callers.push_back(caller_for(group, point, subject_.buffers.back()));
  }
  subject_.run = runner(std::move(callers));
}

Subject::Buffers OwnSubject::make_buffers() {
  const std::size_t element = element_bytes(point_.dtype);
  Subject::Buffers buffers;
  buffers.source = allocate(point_.source_count() * element);
  if (point_.memory == Memory::shared) {
    shared_.push_back(group_.allocate_shared<std::uint8_t>(point_.destination_count() * element));
    // Only looked at, as every destination that isn't the source.
    auto* result = const_cast<std::uint8_t*>(shared_.back().data());
    buffers.destination = std::as_writable_bytes(std::span(result, shared_.back().size()));
  } else {
    buffers.destination =
        point_.is_in_place() ? buffers.source : allocate(point_.destination_count() * element);
  }
  return buffers;
}

void OwnSubject::give_back_shared() {
  for (const auto& result : shared_) group_.deallocate_shared(result);
  shared_.clear();
}

OwnSubject::~OwnSubject() {
  for (const std::span<std::byte>& memory : allocated_) {
    group_.deallocate(
        std::span<std::uint8_t>(reinterpret_cast<std::uint8_t*>(memory.data()), memory.size()));
  }
}

std::span<std::byte> OwnSubject::allocate(std::size_t bytes) {
  if (point_.memory == Memory::own || bytes == 0) {
    return private_.emplace_back(bytes).bytes().first(bytes);
  }
  const std::span<std::uint8_t> memory = group_.allocate<std::uint8_t>(bytes);
  return allocated_.emplace_back(std::as_writable_bytes(memory));
}

}  // namespace tensorplay::tpbench
