#include "lib/nn/model_agreement.h"
#include "tests/nn/small_model.h"
#include "tests/worlds/world_test.h"

#include <tensorplay/error.h>

namespace tensorplay::nn {
namespace {

using distributed::ProcessGroup;
using worlds::Findings;
using worlds::run_world;

// What every rank's constructor throws when the ranks pass what `make` gives them.
template <typename Make>
void check_refusal(worlds::World world, const std::string& wanted, Make make) {
  const auto result = run_world(world, 3, [&](ProcessGroup& group) {
    Findings found;
    const std::string text =
        found.throws<CollectiveMismatch>([&] { make(group); }, "the constructor");
    found.equal(text,
                "DistributedDataParallel: the ranks pass different models: " + wanted +
                    ". Pass the same parameters, buffers and options, in the same order, on all "
                    "ranks.",
                "the message");
    // Nobody was left behind: the group still works.
    std::int32_t one = 1;
    group.all_reduce(std::span(&one, 1));
    found.equal(one, 3, "the sum afterwards");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE(model_agreement)

BOOST_AUTO_TEST_CASE(equal_outlines_have_no_difference) {
  BOOST_TEST(describe_difference({"a", "b"}, 0, {"a", "b"}, 1) == "");
  BOOST_TEST(describe_difference({}, 0, {}, 1) == "");
}

BOOST_AUTO_TEST_CASE(the_first_difference_is_told_with_both_ranks) {
  BOOST_TEST(describe_difference({"a", "b", "c"}, 0, {"a", "x", "y"}, 3) ==
             "rank 0 has b, rank 3 has x");
  BOOST_TEST(describe_difference({"a"}, 0, {"a", "b"}, 3) ==
             "rank 0 has nothing more, rank 3 has b");
}

TP_WORLD_TEST(another_size_on_one_rank_is_told_on_all) {
  check_refusal(world,
                "rank 0 has parameter 1 ('weight1') with 4 elements, "
                "rank 2 has parameter 1 ('weight1') with 5 elements",
                [](ProcessGroup& group) {
                  SmallModel model({3, group.rank() == 2 ? 5U : 4U, 6});
                  DistributedDataParallel ddp(model.parameters(), group);
                });
}

TP_WORLD_TEST(a_missing_parameter_is_told_on_all) {
  check_refusal(world,
                "rank 0 has parameter 1 ('weight1') with 4 elements, rank 1 has nothing more",
                [](ProcessGroup& group) {
                  SmallModel model({3, 4});
                  auto parameters = model.parameters();
                  if (group.rank() == 1) parameters.pop_back();
                  DistributedDataParallel ddp(parameters, group);
                });
}

TP_WORLD_TEST(another_order_of_equal_sizes_is_told_by_the_names) {
  check_refusal(world,
                "rank 0 has parameter 0 ('weight0') with 4 elements, "
                "rank 1 has parameter 0 ('weight1') with 4 elements",
                [](ProcessGroup& group) {
                  SmallModel model({4, 4});
                  auto parameters = model.parameters();
                  if (group.rank() > 0) std::swap(parameters[0], parameters[1]);
                  DistributedDataParallel ddp(parameters, group);
                });
}

TP_WORLD_TEST(another_buffer_is_told_on_all) {
  check_refusal(world,
                "rank 0 has buffer 0 ('mean0') with 2 elements, "
                "rank 1 has buffer 0 ('mean0') with 0 elements",
                [](ProcessGroup& group) {
                  SmallModel model({4}, {group.rank() == 1 ? 0U : 2U});
                  DistributedDataParallel ddp(model.parameters(), model.model_buffers(), group);
                });
}

TP_WORLD_TEST(other_options_are_told_on_all) {
  check_refusal(world, "rank 0 has bucket_bytes 64, rank 1 has bucket_bytes 65",
                [](ProcessGroup& group) {
                  SmallModel model({4});
                  const std::size_t bytes = group.rank() == 1 ? 65 : 64;
                  DistributedDataParallel ddp(model.parameters(), group, {.bucket_bytes = bytes});
                });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::nn
