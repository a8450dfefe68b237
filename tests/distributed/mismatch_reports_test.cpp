// What a mismatch tells: who called what, in which aspects they differ, and what came before.

#include "tests/distributed/plain.h"
#include "tests/distributed/told.h"
#include "tests/join/joinables.h"
#include "tests/worlds/world_test.h"

#include <tensorplay/nn/parallel/distributed_data_parallel.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tensorplay::distributed {
namespace {

using join_tests::Counter;
using worlds::run_world;

using Call = std::function<void(ProcessGroup&)>;

// Rank 1 calls `odd`, ranks 0 and 2 call `usual`, after two barriers.
std::string disagree(ProcessGroup& group, const Call& usual, const Call& odd) {
  group.barrier();
  group.barrier();
  return told(group, [&] { group.rank() == 1 ? odd(group) : usual(group); });
}

std::string text_of(const std::string& difference, const std::string& usual,
                    const std::string& odd) {
  return "CollectiveMismatch: the ranks disagree about operation 3 of the group: they differ in " +
         difference +
         ". The last operations of each:\n"
         "  ranks 0, 2: 1-2: barrier; 3: " +
         usual + "\n  rank 1: 1-2: barrier; 3: " + odd +
         "\nAll ranks must call the same collectives in the same order";
}

template <typename T>
Call sum_of(std::size_t count, ReduceOp op = ReduceOp::sum) {
  return [=](ProcessGroup& group) {
    std::vector<T> values(count);
    group.all_reduce(std::span(values), op);
  };
}

Call from_root(int root) {
  return [=](ProcessGroup& group) {
    float value = 0;
    group.broadcast(std::span(&value, 1), root);
  };
}

void expect_mismatch(worlds::World world, const Call& usual, const Call& odd,
                     const std::string& text) {
  const auto result =
      run_world(world, 3, [&](ProcessGroup& group) { return disagree(group, usual, odd); });
  expect_all_say(result, text);
}

BOOST_AUTO_TEST_SUITE(mismatch_reports)

TP_WORLD_TEST(the_count_is_named) {
  expect_mismatch(
      world, sum_of<float>(10), sum_of<float>(12),
      text_of("count: ranks 0, 2 pass 10, rank 1 passes 12",
              "all_reduce (sum, float32, 10 elements)", "all_reduce (sum, float32, 12 elements)"));
}

TP_WORLD_TEST(the_element_type_is_named) {
  expect_mismatch(
      world, sum_of<float>(10), sum_of<double>(10),
      text_of("element type: ranks 0, 2 pass float32, rank 1 passes float64",
              "all_reduce (sum, float32, 10 elements)", "all_reduce (sum, float64, 10 elements)"));
}

TP_WORLD_TEST(the_reduction_is_named) {
  expect_mismatch(
      world, sum_of<float>(1), sum_of<float>(1, ReduceOp::max),
      text_of("reduction: ranks 0, 2 pass sum, rank 1 passes max",
              "all_reduce (sum, float32, 1 element)", "all_reduce (max, float32, 1 element)"));
}

TP_WORLD_TEST(the_root_is_named) {
  expect_mismatch(
      world, from_root(0), from_root(2),
      text_of("root: ranks 0, 2 pass 0, rank 1 passes 2", "broadcast (float32, 1 element, root 0)",
              "broadcast (float32, 1 element, root 2)"));
}

TP_WORLD_TEST(the_collective_is_named) {
  expect_mismatch(
      world, sum_of<float>(10), [](ProcessGroup& group) { group.barrier(); },
      text_of("collective: ranks 0, 2 call all_reduce, rank 1 calls barrier",
              "all_reduce (sum, float32, 10 elements)", "barrier"));
}

TP_WORLD_TEST(several_aspects_are_named) {
  expect_mismatch(
      world, sum_of<float>(10), sum_of<std::int32_t>(4, ReduceOp::bor),
      text_of("element type: ranks 0, 2 pass float32, rank 1 passes int32; in count: "
              "ranks 0, 2 pass 10, rank 1 passes 4; in reduction: ranks 0, 2 pass sum, "
              "rank 1 passes bor",
              "all_reduce (sum, float32, 10 elements)", "all_reduce (bor, int32, 4 elements)"));
}

TP_WORLD_TEST(what_a_collective_is_a_part_of_is_named) {
  const Call wrap = [](ProcessGroup& group) {
    std::vector<float> value(1), gradient(1);
    nn::parallel::DistributedDataParallel model({{"weight", value, gradient}}, group);
  };
  expect_mismatch(
      world, wrap, [](ProcessGroup& group) { group.split(0, 0); },
      text_of("element type: ranks 0, 2 pass uint64, rank 1 passes int32",
              "all_gather (uint64, 2 elements) of DistributedDataParallel's model "
              "check",
              "all_gather (int32, 2 elements) of split()"));
}

TP_WORLD_TEST(the_join_context_is_named) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) -> std::string {
    Counter counter(group);
    group.barrier();
    return told(group, [&] {
      if (group.rank() == 0) {
        sum_of<float>(3)(group);
      } else {
        join_tests::with_join({counter}, {}, [&] { sum_of<float>(3)(group); });
      }
    });
  });
  expect_all_say(result,
                 "CollectiveMismatch: the ranks disagree about operation 2 of the group: they "
                 "differ in Join context: rank 0 is outside of a Join context, rank 1 is in Join "
                 "context 1: Joinables [Counter], enable=true, throw_on_early_termination=false, "
                 "arguments {}. The last operations of each:\n"
                 "  ranks 0, 1: 1: barrier; 2: all_reduce (sum, float32, 3 elements)\n"
                 "Enter the same contexts, with the same Joinables, flags and arguments, on all "
                 "ranks");
}

// Operations under way behind the one that differs belong to the picture.
TP_WORLD_TEST(a_call_that_was_left_out_shows_in_the_rows) {
  const auto result = run_world(world, 2, [](ProcessGroup& group) -> std::string {
    std::vector<float> values(5);
    return told(group, [&] {
      std::vector<Work> works;
      for (const std::size_t count : {1u, 2u, 3u, 4u, 5u}) {
        if (group.rank() == 1 && count == 3) continue;
        works.push_back(group.all_reduce_async(std::span(values).subspan(0, count)));
      }
      for (Work& work : works) work.wait();
    });
  });
  const std::string text = result.ranks[0].findings;
  BOOST_TEST((text.find("about operation 3 of the group: they differ in count: rank 0 passes 3, "
                        "rank 1 passes 4") != std::string::npos),
             text);
  BOOST_TEST((text.find("2: all_reduce (sum, float32, 2 elements); 3: all_reduce (sum, float32, 4 "
                        "elements)") != std::string::npos),
             text);
  expect_all_say_the_same(result, 2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::distributed
