// Jobs that survive deaths in a /dev/shm as small as Docker's: what fits trains to the end, what
// doesn't is refused by all ranks before they train.

#include "tests/distributed/test_job.h"
#include "tests/nn/small_model.h"
#include "tests/shm/child_process.h"
#include "tests/shm/own_dev_shm.h"

#include <tensorplay/distributed/algorithms/join.h>
#include <tensorplay/distributed/process_group.h>
#include <tensorplay/error.h>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tensorplay::distributed {
namespace {

using algorithms::Join;
using nn::DistributedDataParallel;
using nn::SmallModel;
using testing::ChildProcess;

constexpr int kRanks = 8;
constexpr std::size_t kFloatsOfMebibyte = std::size_t{1} << 18;

using RankBody = std::function<std::string(ProcessGroup&)>;

// What the ranks of a job report, each in a line of its own.
std::string run_eight_ranks(const RankBody& body) {
  const TestJob job;
  std::vector<std::unique_ptr<ChildProcess>> ranks;
  for (int rank = 0; rank < kRanks; ++rank) {
    ranks.push_back(std::make_unique<ChildProcess>([&, rank] {
      ProcessGroupOptions options = job.rank(rank, kRanks);
      options.arena_bytes = ProcessGroupOptions{}.arena_bytes;
      options.on_peer_failure = PeerFailurePolicy::continue_without;
      ProcessGroup group = init_process_group(options);
      return body(group);
    }));
  }
  std::string reports;
  for (const auto& rank : ranks) {
    const std::string report = rank->report();
    if (!report.empty()) reports += report + "; ";
  }
  return reports;
}

std::string report_in_64_mib(const RankBody& body) {
  return testing::report_with_own_dev_shm("size=64m", [&body] { return run_eight_ranks(body); });
}

void expect_report(const std::string& report, const std::string& expected) {
  if (report == testing::kSkipped) {
    BOOST_TEST_MESSAGE(report);
  } else {
    BOOST_TEST(report == expected);
  }
}

std::string compare_checksums(ProcessGroup& group, std::uint64_t own) {
  std::vector<std::uint64_t> all(kRanks);
  const Contributors present = group.all_gather(std::span(&own, 1), std::span(all));
  for (const int rank : present.ranks()) {
    if (all[static_cast<std::size_t>(rank)] != own) return "the models differ";
  }
  return "";
}

// Iterations of which the ranks have different numbers; `mortal` is killed in its second one.
std::string train(ProcessGroup& group, SmallModel& model, int mortal) {
  const int rank = group.rank();
  DistributedDataParallel replica(model.parameters(), group);
  Join join({replica});
  for (int iteration = 0; iteration < 3 + rank % 2; ++iteration) {
    replica.forward();
    model.backward(rank, iteration);
    if (rank == mortal && iteration == 1) raise(SIGKILL);
    replica.synchronize();
    const float expected = nn::mean_element(kRanks, iteration, 0, 7);
    if (iteration == 0 && model.gradients[0][7] != expected) return "the gradient is wrong";
    for (std::size_t i = 0; i < model.values.size(); ++i) {
      model.values[i][0] -= model.gradients[i][0];
    }
  }
  join.finish();
  return compare_checksums(group, replica.checksum());
}

std::string refusal(ProcessGroup& group) {
  SmallModel model({kFloatsOfMebibyte * 6});
  try {
    DistributedDataParallel(model.parameters(), group);
  } catch (const SegmentError& error) {
    return error.what();
  }
  return "it was not refused";
}

// All ranks are told the same, and can train something smaller.
std::string be_refused(ProcessGroup& group) {
  const std::string text = refusal(group);
  for (const char* part : {"DistributedDataParallel: ", "each of the 8 ranks needs 94", " together",
                           " bytes wanted, ", " free in /dev/shm", "--shm-size"}) {
    if (text.find(part) == std::string::npos) return "'" + text + "' lacks '" + part + "'";
  }
  const std::uint64_t hash = std::hash<std::string>{}(text);
  if (const std::string wrong = compare_checksums(group, hash); !wrong.empty()) {
    return "another rank was told something else than: " + text;
  }
  SmallModel model({kFloatsOfMebibyte * 4});
  return train(group, model, -1);
}

// As many large operations at once as would take all memory, several times over.
std::string start_many(ProcessGroup& group) {
  std::vector<std::vector<float>> sums(24, std::vector<float>(2 * kFloatsOfMebibyte, 1.0F));
  std::vector<Work> works;
  for (auto& values : sums) works.push_back(group.all_reduce_async(std::span(values)));
  for (Work& work : works) work.wait();
  const auto right = [](const auto& values) {
    return values.front() == kRanks && values.back() == kRanks;
  };
  return std::ranges::all_of(sums, right) ? "" : "a sum is wrong";
}

BOOST_AUTO_TEST_SUITE(surviving_memory)

BOOST_AUTO_TEST_CASE(a_model_of_one_tensor_of_4_mib_trains_to_the_end) {
  const auto body = [](ProcessGroup& group) {
    SmallModel model({kFloatsOfMebibyte * 4});
    return train(group, model, -1);
  };
  expect_report(report_in_64_mib(body), "");
}

BOOST_AUTO_TEST_CASE(a_model_of_24_mib_in_buckets_of_one_trains_to_the_end_also_when_a_rank_dies) {
  const auto body = [](ProcessGroup& group) {
    SmallModel model(std::vector<std::size_t>(24, kFloatsOfMebibyte));
    return train(group, model, 3);
  };
  expect_report(report_in_64_mib(body), "ended by signal 9; ");
}

BOOST_AUTO_TEST_CASE(a_model_whose_copies_don_t_fit_is_refused_on_all_ranks_before_they_train) {
  expect_report(report_in_64_mib(be_refused), "");
}

BOOST_AUTO_TEST_CASE(ranks_that_start_many_operations_leave_room_for_each_other) {
  expect_report(report_in_64_mib(start_many), "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::distributed
