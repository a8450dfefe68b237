// Jobs in a /dev/shm as small as Docker's: what they use is reserved, so that nothing can fail
// later; what can't be reserved is told.

#include "lib/shm/segment.h"
#include "tests/distributed/test_job.h"
#include "tests/shm/child_process.h"
#include "tests/shm/own_dev_shm.h"

#include <tensorplay/distributed/process_group.h>
#include <tensorplay/error.h>

#include <fcntl.h>
#include <sys/statfs.h>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tensorplay::distributed {
namespace {

using testing::ChildProcess;

constexpr int kRanks = 8;

void expect_nothing_wrong(const std::string& report) {
  if (report == testing::kSkipped) {
    BOOST_TEST_MESSAGE(report);
  } else {
    BOOST_TEST(report == "");
  }
}

std::size_t bytes_free() {
  struct statfs status {};
  statfs("/dev/shm", &status);
  return static_cast<std::size_t>(status.f_bavail) * static_cast<std::size_t>(status.f_bsize);
}

// Somebody else takes all that is left.
std::string fill() {
  const int file = open("/dev/shm/filler", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const int error = posix_fallocate(file, 0, static_cast<off_t>(bytes_free()));
  close(file);
  return error == 0 && bytes_free() == 0 ? "" : "there is room left";
}

std::string sum_up(ProcessGroup& group, std::span<double> values) {
  std::fill(values.begin(), values.end(), group.rank() + 1.0);
  group.all_reduce(values);
  const double sum = group.size() * (group.size() + 1) / 2.0;
  for (const double value : values) {
    if (value != sum) return "the sum is " + std::to_string(value);
  }
  return "";
}

// Operations of each kind and size, through lines, slots and staging buffers.
std::string use(ProcessGroup& group) {
  const auto size = static_cast<std::size_t>(group.size());
  for (const std::size_t count : {std::size_t{1}, std::size_t{500}, std::size_t{500'000}}) {
    std::vector<double> values(count);
    if (std::string wrong = sum_up(group, values); !wrong.empty()) return wrong;
    std::vector<double> blocks(count * size);
    group.all_gather(std::span<const double>(values), std::span(blocks));
    group.reduce_scatter(std::span<const double>(blocks), std::span(values));
    std::vector<double> others(count * size);
    group.all_to_all(std::span<const double>(blocks), std::span(others));
    group.broadcast(std::span(values), group.size() - 1);
    group.barrier();
  }
  return "";
}

// One rank of the eight, with the options that everybody has.
std::string live(ProcessGroupOptions options) {
  options.arena_bytes = ProcessGroupOptions{}.arena_bytes;
  ProcessGroup group = init_process_group(options);
  ProcessGroup half = group.split(group.rank() % 2, 0);
  const std::span<double> lent = group.allocate<double>(std::size_t{128} * 1024);  // 1 MiB
  group.barrier();
  if (group.rank() == 0) {
    if (std::string wrong = fill(); !wrong.empty()) return wrong;
  }
  group.barrier();
  for (ProcessGroup* used : {&group, &half}) {
    if (std::string wrong = use(*used); !wrong.empty()) return wrong;
  }
  if (std::string wrong = sum_up(group, lent); !wrong.empty()) return wrong;
  try {
    group.allocate<double>(std::size_t{128} * 1024);
    return "memory was given that isn't there";
  } catch (const SegmentError& error) {
    const std::string text = error.what();
    if (text.find("1048576 bytes wanted, 0 free in /dev/shm") == std::string::npos) return text;
  }
  return use(group);
}

std::string run_eight_ranks() {
  const TestJob job;
  std::vector<std::unique_ptr<ChildProcess>> ranks;
  for (int rank = 0; rank < kRanks; ++rank) {
    ranks.push_back(
        std::make_unique<ChildProcess>([&, rank] { return live(job.rank(rank, kRanks)); }));
  }
  std::string wrong;
  for (const auto& rank : ranks) wrong += rank->report();
  return wrong;
}

std::string error_of(const ProcessGroupOptions& options) {
  try {
    init_process_group(options);
  } catch (const PeerFailure& error) {
    return "PeerFailure of rank " + std::to_string(error.rank()) + ": " + error.what();
  } catch (const SegmentError& error) {
    return std::string("SegmentError: ") + error.what();
  }
  return "nothing was thrown";
}

std::string lacks(const std::string& text, const std::string& part) {
  return text.find(part) == std::string::npos ? "'" + text + "' lacks '" + part + "'" : "";
}

// Rank 0 has come; then somebody else takes what was left for rank 1.
std::string start_where_memory_goes() {
  const TestJob job;
  ChildProcess first([&] { return error_of(job.rank(0, 2)); });
  job.await_ranks(1);
  if (std::string wrong = fill(); !wrong.empty()) return wrong;
  const std::string own = error_of(job.rank(1, 2));
  const std::string told = first.report();
  return lacks(own, "SegmentError: no shared memory for rank 1's control blocks: ") +
         lacks(own, " bytes wanted, 0 free in /dev/shm") + lacks(own, "--shm-size") +
         lacks(told, "PeerFailure of rank 1: ") + lacks(told, "could not start: no shared memory");
}

BOOST_AUTO_TEST_SUITE(small_memory)

BOOST_AUTO_TEST_CASE(eight_ranks_live_in_dockers_64_mib_also_when_the_rest_of_it_is_full) {
  expect_nothing_wrong(testing::report_with_own_dev_shm("size=64m", run_eight_ranks));
}

BOOST_AUTO_TEST_CASE(a_rank_that_finds_no_memory_tells_the_others_at_once) {
  expect_nothing_wrong(testing::report_with_own_dev_shm("size=8m", start_where_memory_goes));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::distributed
