#include "tools/tpbench/limit_job.h"

#include "lib/multiprocessing/run_children.h"
#include "tools/tpbench/exchange_tasks.h"
#include "tools/tpbench/measurement.h"
#include "tools/tpbench/private_memory.h"

#include <tensorplay/error.h>

#include <sys/mman.h>
#include <cstring>
#include <new>
#include <optional>

namespace tensorplay::tpbench {
namespace {

// Taken as it is touched; it ends with the job's processes.
std::span<std::byte> shared_memory(std::size_t bytes) {
  void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) throw std::bad_alloc();
  return {static_cast<std::byte*>(address), bytes};
}

void copy(RigRank& rank, Order order) {
  // As an in-place operation: one source, filled anew each time.
  order.point.kind = distributed::CollectiveKind::all_reduce;
  order.verify = false;
  const PrivateMemory source(order.point.bytes), destination(order.point.bytes);
  Subject subject;
  subject.buffers.push_back({source.bytes(), destination.bytes()});
  subject.run = [&] {
    // Through a pointer that the compiler knows nothing about, so that no copy is left out.
    void* (*volatile copy_bytes)(void*, const void*, std::size_t) = std::memcpy;
    copy_bytes(destination.bytes().data(), source.bytes().data(), source.bytes().size());
  };
  subject.has_result = false;
  measure(rank, order, subject);
}

void perform(RigRank& rank, const Order& order, const Exchanged& exchanged) {
  switch (order.task) {
    case Task::copy:
      return copy(rank, order);
    case Task::hand_over:
      return hand_over(rank, order, exchanged);
    case Task::line:
      return pass_line(rank, order);
    case Task::yield_switch:
      return switch_by_yield(rank, order);
    case Task::pipe_switch:
      return switch_by_pipe(rank, order, exchanged);
    case Task::futex_wake:
      return wake_by_futex(rank, order);
    case Task::collective:
    case Task::leave:
      break;
  }
  throw Error("the job of the limits was given a task that it doesn't know");
}

}  // namespace

std::unique_ptr<Job> start_limit_job(int ranks, std::size_t bytes_most) {
  const auto launch = [=](Rig& rig) {
    Exchanged exchanged{{shared_memory(bytes_most), shared_memory(bytes_most)},
                        {multiprocessing::make_pipe(), multiprocessing::make_pipe()}};
    const auto failure = multiprocessing::run_children(ranks, [&](int rank) {
      RigRank(rig, rank).serve(
          [&](RigRank& self, const Order& order) { perform(self, order, exchanged); });
    });
    if (failure) throw Error(failure->message);
  };
  return std::make_unique<Job>("limits", ranks, launch);
}

}  // namespace tensorplay::tpbench
