// Ranks that don't call the same thing: the same error on all of them, and the group says so from
// then on.

#include "tests/conformance/operation.h"
#include "tests/worlds/world_test.h"

#include <functional>

namespace tensorplay::conformance {
namespace {

using worlds::Findings;
using worlds::run_world;
using worlds::World;
using worlds::WorldResult;

// One rank's call; `odd` on the rank that does another thing than the rest.
using Call = std::function<void(ProcessGroup&, bool odd)>;

constexpr std::string_view kMismatch = "CollectiveMismatch: ";

// The call's error, once it has been made sure that the group can't be used after it.
std::string error_of(ProcessGroup& group, const Call& call, int odd_rank) {
  std::string error;
  try {
    call(group, group.rank() == odd_rank);
    return "no error";
  } catch (...) {
    error = worlds::describe(std::current_exception());
  }
  for (int again = 0; again < 2; ++again) {
    try {
      group.barrier();
      return "a barrier worked after: " + error;
    } catch (const Error&) {
    }
  }
  return error;
}

// All ranks throw the same CollectiveMismatch, which names the odd rank and has each of `parts`.
void check(World world, const Call& call, const std::vector<std::string>& parts) {
  for (int odd_rank : {0, 1, 2}) {
    const WorldResult result =
        run_world(world, 3, [&](ProcessGroup& group) { return error_of(group, call, odd_rank); });
    const std::string& text = result.ranks[0].findings;
    BOOST_TEST_CONTEXT("odd rank " << odd_rank << ", rank 0 says: " << text) {
      BOOST_TEST(text.starts_with(kMismatch));
      BOOST_TEST(result.ranks[1].findings == text);
      BOOST_TEST(result.ranks[2].findings == text);
      BOOST_TEST(text.find("rank") != std::string::npos);
      BOOST_TEST(text.find(std::to_string(odd_rank)) != std::string::npos);
      for (const std::string& part : parts) {
        BOOST_TEST_CONTEXT(part) {
          BOOST_TEST(text.find(part) != std::string::npos);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE(mismatch)

TP_WORLD_TEST(another_collective_is_told_on_all_ranks) {
  check(world,
        [](ProcessGroup& group, bool odd) {
          std::vector<float> values(8, 1.0f);
          if (odd) {
            group.broadcast(std::span(values), 0);
          } else {
            group.all_reduce(std::span(values));
          }
        },
        {"broadcast", "all_reduce"});
}

TP_WORLD_TEST(a_barrier_in_place_of_a_large_collective_is_told_on_all_ranks) {
  check(world,
        [](ProcessGroup& group, bool odd) {
          std::vector<float> values(500'000, 1.0f);
          if (odd) {
            group.barrier();
          } else {
            group.all_reduce(std::span(values));
          }
        },
        {"barrier", "all_reduce"});
}

TP_WORLD_TEST(another_element_type_is_told_on_all_ranks) {
  check(world,
        [](ProcessGroup& group, bool odd) {
          std::vector<float> reals(8);
          std::vector<std::int32_t> integers(8);
          if (odd) {
            group.all_reduce(std::span(integers));
          } else {
            group.all_reduce(std::span(reals));
          }
        },
        {"int32", "float32"});
}

TP_WORLD_TEST(another_count_is_told_on_all_ranks) {
  const std::pair<std::size_t, std::size_t> kCounts[] = {
      {4, 5}, {0, 1}, {8, 10'000}, {16'000, 16'001}, {300'000, 3}};
  for (const auto& [usual, odd_one] : kCounts) {
    check(world,
          [=, usual = usual, odd_one = odd_one](ProcessGroup& group, bool odd) {
            std::vector<float> values(odd ? odd_one : usual);
            group.all_reduce(std::span(values));
          },
          {std::to_string(usual), std::to_string(odd_one)});
  }
}

TP_WORLD_TEST(another_reduction_is_told_on_all_ranks) {
  check(world,
        [](ProcessGroup& group, bool odd) {
          std::vector<double> values(1000);
          group.reduce(std::span(values), 1, odd ? ReduceOp::max : ReduceOp::avg);
        },
        {"max", "avg"});
}

TP_WORLD_TEST(another_root_is_told_on_all_ranks) {
  check(world,
        [](ProcessGroup& group, bool odd) {
          std::vector<double> values(10);
          group.broadcast(std::span(values), odd ? 2 : 0);
        },
        {"root"});
}

TP_WORLD_TEST(a_mismatch_of_an_asynchronous_operation_is_thrown_by_each_wait) {
  const WorldResult result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    std::vector<float> values(10);
    Work work;
    bool started = false;
    // A rank that comes late is told when it starts.
    const auto start_and_wait = [&] {
      work = group.rank() == 1 ? group.barrier_async() : group.all_reduce_async(std::span(values));
      started = true;
      work.wait();
    };
    const std::string once = found.throws<CollectiveMismatch>(start_and_wait, "the first wait");
    if (!started) return found.text();
    const std::string again =
        found.throws<CollectiveMismatch>([&] { work.wait(); }, "the second wait");
    found.equal(again, once, "the second text");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

// wait() throws what its own operation met: one that had ended keeps its result.
TP_WORLD_TEST(an_operation_that_ended_before_a_mismatch_keeps_its_result) {
  const WorldResult result = run_world(world, 3, [](ProcessGroup& group) {
    Findings found;
    std::vector<float> values(10, 1.0f);
    Work ended = group.all_reduce_async(std::span(values));
    Work asked = group.all_reduce_async(std::span(values).first(0));
    group.barrier();
    ended.wait();
    while (!asked.is_completed()) {
    }
    found.throws<CollectiveMismatch>(
        [&] {
          if (group.rank() == 1) group.barrier();
          group.all_reduce(std::span(values));
        },
        "the mismatch");
    found.equal(ended.contributors().count(), 3, "contributors() afterwards");
    found.equal(ended.wait().count(), 3, "wait() afterwards");
    found.equal(asked.wait().count(), 3, "the first wait() of a completed one");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

TP_WORLD_TEST(a_mismatch_in_a_part_leaves_the_whole_usable) {
  const WorldResult result = run_world(world, 4, [](ProcessGroup& group) {
    Findings found;
    ProcessGroup part = group.split(group.rank() / 2, 0);
    const auto call = [&] {
      std::vector<float> values(3);
      if (group.rank() == 1) {
        part.broadcast(std::span(values), 0);
      } else {
        part.all_reduce(std::span(values));
      }
    };
    if (group.rank() < 2) {
      found.throws<CollectiveMismatch>(call, "the part's collective");
    } else {
      call();
    }
    found.equal(group.barrier().count(), 4, "the whole's contributors");
    return found.text();
  });
  BOOST_TEST(result.findings() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::conformance
