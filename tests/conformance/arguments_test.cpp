// What a caller can't ask for: InvalidArgument at once, and the group is as it was.

#include "tests/conformance/operation.h"
#include "tests/worlds/world_test.h"

#include <functional>

namespace tensorplay::conformance {
namespace {

using worlds::Findings;
using worlds::run_world;
using worlds::World;

// On every rank in turn the call throws InvalidArgument whose text has each of `parts`, while the
// others make none; the group works before and after.
void check(World world, const std::function<void(ProcessGroup&)>& call,
           const std::vector<std::string>& parts) {
  const auto result = run_world(world, 3, [&](ProcessGroup& group) {
    Findings found;
    for (int turn = 0; turn < group.size(); ++turn) {
      found.equal(group.barrier().count(), 3, "contributors of the barrier before");
      if (turn != group.rank()) continue;
      const std::string text = found.throws<InvalidArgument>([&] { call(group); }, "the call");
      for (const std::string& part : parts) found.contains(text, part, "the text");
    }
    std::int32_t one = 1;
    group.all_reduce(std::span(&one, 1));
    found.equal(one, 3, "the sum afterwards");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE(arguments)

TP_WORLD_TEST(bitwise_reductions_of_reals_are_refused) {
  check(world,
        [](ProcessGroup& group) {
          std::vector<float> values(4);
          group.all_reduce(std::span(values), ReduceOp::band);
        },
        {"band", "float32"});
  check(world,
        [](ProcessGroup& group) {
          std::vector<bfloat16> values(4);
          group.reduce(std::span(values), 0, ReduceOp::bxor);
        },
        {"bxor", "bfloat16"});
  check(world,
        [](ProcessGroup& group) {
          std::vector<double> source(6), destination(2);
          group.reduce_scatter<double>(source, destination, ReduceOp::bor);
        },
        {"bor", "float64"});
}

TP_WORLD_TEST(roots_outside_the_group_are_refused) {
  for (int root : {-1, 3, 1000}) {
    std::vector<std::function<void(ProcessGroup&)>> calls = {
        [=](ProcessGroup& group) {
          float value = 0;
          group.broadcast(std::span(&value, 1), root);
        },
        [=](ProcessGroup& group) {
          float value = 0;
          group.reduce(std::span(&value, 1), root);
        },
        [=](ProcessGroup& group) {
          std::vector<float> one(1), all(3);
          group.gather<float>(one, all, root);
        },
        [=](ProcessGroup& group) {
          std::vector<float> one(1), all(3);
          group.scatter<float>(all, one, root);
        }};
    for (const auto& call : calls) check(world, call, {"root", std::to_string(root)});
  }
}

TP_WORLD_TEST(blocks_that_dont_fit_are_refused) {
  check(world,
        [](ProcessGroup& group) {
          std::vector<float> source(2), destination(5);
          group.all_gather<float>(source, destination);
        },
        {"all_gather", "5"});
  check(world,
        [](ProcessGroup& group) {
          std::vector<float> source(7), destination(2);
          group.reduce_scatter<float>(source, destination);
        },
        {"reduce_scatter", "7"});
  check(world,
        [](ProcessGroup& group) {
          std::vector<float> source(2), destination(8);
          group.gather<float>(source, destination, group.rank());
        },
        {"gather", "8"});
  check(world,
        [](ProcessGroup& group) {
          std::vector<float> source(4), destination(1);
          group.scatter<float>(source, destination, group.rank());
        },
        {"scatter", "4"});
  check(world,
        [](ProcessGroup& group) {
          std::vector<float> source(6), destination(9);
          group.all_to_all<float>(source, destination);
        },
        {"all_to_all"});
  check(world,
        [](ProcessGroup& group) {
          std::vector<float> source(7), destination(7);
          group.all_to_all<float>(source, destination);
        },
        {"all_to_all", "7"});
}

TP_WORLD_TEST(more_than_64_gibibytes_are_refused) {
  check(world,
        [](ProcessGroup& group) {
          std::int8_t value = 0;
          // Never touched: the count is refused before.
          group.all_reduce(std::span(&value, (std::size_t{1} << 36) + 1));
        },
        {"all_reduce", "68719476737"});
}

TP_WORLD_TEST(buffers_that_overlap_are_refused) {
  check(world,
        [](ProcessGroup& group) {
          std::vector<float> memory(20);
          const std::span<float> all(memory);
          group.all_to_all<float>(all.first(6), all.subspan(3, 6));
        },
        {"all_to_all", "overlap"});
  check(world,
        [](ProcessGroup& group) {
          std::vector<float> memory(20);
          const std::span<float> all(memory);
          group.all_gather<float>(all.subspan(1, 4), all.first(12));
        },
        {"all_gather", "overlap"});
  check(world,
        [](ProcessGroup& group) {
          std::vector<float> memory(20);
          const std::span<float> all(memory);
          group.reduce_scatter<float>(all.first(12), all.subspan(10, 4));
        },
        {"reduce_scatter", "overlap"});
}

TP_WORLD_TEST(the_time_out_is_the_one_that_was_asked_for) {
  const auto result = run_world(
      world, 2, [](ProcessGroup& group) { return std::to_string(group.timeout().count()); },
      {.timeout = std::chrono::milliseconds(12'345)});
  BOOST_TEST(result.ranks[1].findings == "12345");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::conformance
