#include "tests/distributed/waits.h"

#include "tests/distributed/told.h"

#include <array>
#include <cstdint>
#include <ostream>
#include <span>
#include <thread>

namespace tensorplay::distributed {
namespace {

void wait_in_small(ProcessGroup& group, Counter&) {
  add_up(group, 1, 1);
}

void wait_in_staged(ProcessGroup& group, Counter&) {
  add_up(group, 300'000, 1);
}

// The memory isn't given back: peers may be at it.
void wait_in_arenas(ProcessGroup& group, Counter&) {
  group.all_reduce(group.allocate<double>(100'000), ReduceOp::max);
}

void wait_in_barrier(ProcessGroup& group, Counter&) {
  group.barrier();
}

// The second waits for its turn.
void wait_for_work(ProcessGroup& group, Counter&) {
  std::vector<float> first(100'000), second(100'000);
  group.all_reduce_async(std::span(first));
  group.all_reduce_async(std::span(second)).wait();
}

void ask_until_completed(ProcessGroup& group, Counter&) {
  std::array<std::int64_t, 3> values{};
  Work work = group.broadcast_async(std::span<std::int64_t>(values), 1);
  while (!work.is_completed()) std::this_thread::yield();
  work.wait();
}

void wait_in_split(ProcessGroup& group, Counter&) {
  group.split(group.rank() % 2, 0);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Wait& wait) {
  return out << wait.name;
}

const std::vector<Wait>& all_waits() {
  static const std::vector<Wait> waits{
      {"small", wait_in_small, false, false, "all_reduce (sum, float32, 1 element), operation 2"},
      {"staged", wait_in_staged, false, false,
       "all_reduce (sum, float32, 300000 elements), operation 2"},
      {"arenas", wait_in_arenas, false, false,
       "all_reduce (max, float64, 100000 elements), operation 2"},
      {"barrier", wait_in_barrier, false, false, "barrier, operation 2"},
      {"work", wait_for_work, false, false,
       "all_reduce (sum, float32, 100000 elements), operation "},
      {"polling", ask_until_completed, false, false,
       "broadcast (int64, 3 elements, root 1), operation 2"},
      {"split", wait_in_split, false, false, "operation 2"},
      {"notify", [](ProcessGroup&, Counter& counter) { counter.count(); }, true, true,
       "iteration 1 of the Join context"},
      {"end_of_context", [](ProcessGroup&, Counter&) {}, true, false,
       "the end of the Join context"},
  };
  return waits;
}

}  // namespace tensorplay::distributed
