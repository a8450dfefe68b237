// Ranks that are started apart meet under the job's name, or are told why not; nothing is left.

#include "lib/distributed/job_name.h"
#include "lib/shm/segment.h"
#include "tests/distributed/test_job.h"
#include "tests/shm/child_process.h"

#include <tensorplay/distributed/process_group.h>
#include <tensorplay/error.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace tensorplay::distributed {
namespace {

using testing::ChildProcess;
using namespace std::chrono_literals;

bool says(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// The class and text of what meeting throws; "" if it doesn't.
std::string error_of_meeting(const ProcessGroupOptions& options) {
  try {
    init_process_group(options);
  } catch (const PeerFailure& error) {
    return "PeerFailure of rank " + std::to_string(error.rank()) + ": " + error.what();
  } catch (const Timeout& error) {
    return std::string("Timeout: ") + error.what();
  } catch (const SegmentError& error) {
    return std::string("SegmentError: ") + error.what();
  } catch (const InvalidArgument& error) {
    return std::string("InvalidArgument: ") + error.what();
  }
  return "";
}

// Meets, finds that the name has gone, and adds up with the others; what is wrong.
std::string meet(const ProcessGroupOptions& options) {
  ProcessGroup group = init_process_group(options);
  const std::string path = "/dev/shm/" + shm::Segment::name_of(options.job_name);
  if (access(path.c_str(), F_OK) == 0) return "the name is still there";
  if (group.rank() != options.rank || group.size() != options.world_size) return "another place";
  std::int64_t sum = options.rank + 1;
  group.all_reduce(std::span(&sum, 1));
  const std::int64_t size = options.world_size;
  return sum == size * (size + 1) / 2 ? "" : "the sum is " + std::to_string(sum);
}

using Ranks = std::vector<std::unique_ptr<ChildProcess>>;

std::unique_ptr<ChildProcess> start(std::function<std::string()> body) {
  return std::make_unique<ChildProcess>(std::move(body));
}

Ranks start_all(const TestJob& job, int world_size) {
  Ranks ranks;
  for (int rank = 0; rank < world_size; ++rank) {
    ranks.push_back(start([&job, rank, world_size] { return meet(job.rank(rank, world_size)); }));
  }
  return ranks;
}

void expect_fine(Ranks& ranks) {
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::string report = ranks[rank]->report();
    BOOST_TEST(report == "", "rank " << rank << ": " << report);
  }
}

BOOST_AUTO_TEST_SUITE(rendezvous)

BOOST_DATA_TEST_CASE(all_ranks_meet_and_the_name_is_gone, (std::vector<int>{1, 2, 3, 8}),
                     world_size) {
  const TestJob job;
  Ranks ranks = start_all(job, world_size);
  expect_fine(ranks);
  BOOST_TEST(!job.is_there());
}

BOOST_AUTO_TEST_CASE(racing_ranks_meet_every_time) {
  for (int repetition = 0; repetition < 40; ++repetition) {
    const TestJob job;
    Ranks ranks = start_all(job, 5);
    expect_fine(ranks);
    BOOST_TEST(!job.is_there());
  }
}

BOOST_AUTO_TEST_CASE(one_name_serves_job_after_job_of_the_same_processes) {
  const TestJob job;
  const auto body = [&job](int rank) -> std::string {
    for (int repetition = 0; repetition < 200; ++repetition) {
      if (repetition % 2 == 0) {
        init_process_group(job.rank(rank, 3));
      } else if (std::string wrong = meet(job.rank(rank, 3)); !wrong.empty()) {
        return wrong;
      }
    }
    return "";
  };
  Ranks ranks;
  for (int rank = 0; rank < 3; ++rank) ranks.push_back(start([=] { return body(rank); }));
  expect_fine(ranks);
}

BOOST_AUTO_TEST_CASE(jobs_of_different_names_don_t_meet) {
  const TestJob one;
  const TestJob other;
  Ranks ranks = start_all(one, 3);
  for (auto& rank : start_all(other, 2)) ranks.push_back(std::move(rank));
  expect_fine(ranks);
}

BOOST_AUTO_TEST_CASE(the_file_is_its_owner_s_alone) {
  const TestJob job;
  const auto first = start([&] { return meet(job.rank(0, 2)); });
  job.await_ranks(1);
  struct stat status {};
  BOOST_REQUIRE(stat(job.path().c_str(), &status) == 0);
  BOOST_TEST((status.st_mode & 07777) == 0600u);
  BOOST_TEST(status.st_uid == geteuid());
  BOOST_TEST(meet(job.rank(1, 2)) == "");
  BOOST_TEST(first->report() == "");
}

BOOST_AUTO_TEST_CASE(ranks_that_don_t_come_are_named) {
  const TestJob job;
  const auto other = start([&] { return error_of_meeting(job.rank(1, 4, 400ms)); });
  const std::string error = error_of_meeting(job.rank(3, 4, 400ms));
  BOOST_TEST(error.starts_with("Timeout: rank 3 of job 'test-"), error);
  BOOST_TEST(says(error, "waited 400 ms for"), error);
  BOOST_TEST(says(error, "0, 2 to start"), error);
  BOOST_TEST(says(error, "start all 4 ranks"), error);
  BOOST_TEST(says(error, "\n  rank 1 (pid "), error);
  BOOST_TEST(other->report().starts_with("Timeout: rank 1 of job"));
  BOOST_TEST(!job.is_there());
}

BOOST_AUTO_TEST_CASE(a_second_process_of_the_same_rank_is_refused) {
  const TestJob job;
  const auto first = start([&] { return meet(job.rank(0, 2)); });
  job.await_ranks(1);
  const std::string error = error_of_meeting(job.rank(0, 2));
  BOOST_TEST(error.starts_with("SegmentError: rank 0 is taken already"), error);
  BOOST_TEST(says(error, "pid " + std::to_string(first->pid())), error);
  BOOST_TEST(says(error, "start every rank once"), error);
  BOOST_TEST(meet(job.rank(1, 2)) == "");
  BOOST_TEST(first->report() == "");
}

BOOST_AUTO_TEST_CASE(other_options_than_the_first_rank_s_are_refused) {
  const TestJob job;
  const auto first = start([&] { return meet(job.rank(0, 2)); });
  job.await_ranks(1);
  std::string error = error_of_meeting(job.rank(1, 3));
  BOOST_TEST(error.starts_with("SegmentError: " + job.path() + " is refused"), error);
  BOOST_TEST(says(error, "made for 2 ranks, this rank expects 3"), error);
  ProcessGroupOptions larger = job.rank(1, 2);
  larger.arena_bytes = 2 * kArenaBytes;
  error = error_of_meeting(larger);
  BOOST_TEST(says(error, "its arenas have 1048576 bytes, this rank expects 2097152"), error);
  BOOST_TEST(meet(job.rank(1, 2)) == "");
  BOOST_TEST(first->report() == "");
}

BOOST_AUTO_TEST_CASE(a_rank_that_is_killed_before_all_have_come_is_told) {
  const TestJob job;
  const auto first = start([&] { return meet(job.rank(0, 3)); });
  const auto second = start([&] { return error_of_meeting(job.rank(1, 3)); });
  job.await_ranks(2);
  first->send(SIGKILL);
  const std::string error = second->report();
  BOOST_TEST(
      error.starts_with("PeerFailure of rank 0: rank 0 (pid " + std::to_string(first->pid())),
      error);
  // Nobody has reaped it yet, so that the kernel can tell.
  BOOST_TEST(says(error, "was ended by signal 9"), error);
  BOOST_TEST(says(error, "before all ranks of the job had started"), error);
  BOOST_TEST(!job.is_there());
}

// Kills ranks 0 ... count-1 of a job of so many ranks once they have taken their places.
void leave_behind(const TestJob& job, int count, int world_size, bool reaped) {
  static Ranks zombies;
  Ranks ranks;
  for (int rank = 0; rank < count; ++rank) {
    ranks.push_back(start([&, rank] { return meet(job.rank(rank, world_size)); }));
  }
  job.await_ranks(static_cast<std::uint32_t>(count));
  // Stopped first: none shall see another one's end, and clean up.
  for (auto& rank : ranks) rank->send(SIGSTOP);
  for (auto& rank : ranks) waitpid(rank->pid(), nullptr, WUNTRACED);
  for (auto& rank : ranks) rank->send(SIGKILL);
  for (auto& rank : ranks) rank->wait_for_end();
  BOOST_TEST(job.is_there());
  if (!reaped)
    zombies.insert(zombies.end(), std::make_move_iterator(ranks.begin()),
                   std::make_move_iterator(ranks.end()));
}

BOOST_AUTO_TEST_CASE(leftovers_of_other_jobs_are_removed_by_the_next_start) {
  const TestJob dead;
  const TestJob alive;
  const TestJob next;
  leave_behind(dead, 2, 3, true);
  const auto waiting = start([&] { return meet(alive.rank(0, 2)); });
  alive.await_ranks(1);
  BOOST_TEST(meet(next.rank(0, 1)) == "");
  BOOST_TEST(!dead.is_there());
  BOOST_TEST(alive.is_there());
  BOOST_TEST(meet(alive.rank(1, 2)) == "");
  BOOST_TEST(waiting->report() == "");
}

BOOST_AUTO_TEST_CASE(a_leftover_for_another_number_of_ranks_is_replaced_too) {
  const TestJob job;
  leave_behind(job, 1, 3, true);
  BOOST_TEST(meet(job.rank(0, 1)) == "");
  BOOST_TEST(!job.is_there());
}

BOOST_AUTO_TEST_CASE(what_killed_ranks_left_behind_is_replaced) {
  for (const bool reaped : {true, false}) {
    const TestJob job;
    leave_behind(job, 2, 3, reaped);
    Ranks ranks = start_all(job, 3);
    expect_fine(ranks);
    BOOST_TEST(!job.is_there());
  }
}

// The name's maker may be killed while it holds the lock, or another one while it removes the name.
BOOST_AUTO_TEST_CASE(ranks_that_are_killed_at_any_moment_don_t_hinder_the_next_start) {
  for (int repetition = 0; repetition < 60; ++repetition) {
    const TestJob job;
    Ranks killed = start_all(job, 3);
    std::this_thread::sleep_for(std::chrono::microseconds(repetition % 30 * 60));
    for (auto& rank : killed) rank->send(SIGKILL);
    for (auto& rank : killed) rank->wait_for_end();
    Ranks ranks = start_all(job, 3);
    expect_fine(ranks);
  }
}

BOOST_AUTO_TEST_CASE(ranks_that_are_killed_after_meeting_leave_nothing) {
  const TestJob job;
  const auto wait_for_ever = [&job](int rank) -> std::string {
    ProcessGroup group = init_process_group(job.rank(rank, 3));
    group.barrier();
    if (rank == 2) raise(SIGKILL);
    group.barrier();
    return "nothing was thrown";
  };
  Ranks ranks;
  for (int rank = 0; rank < 3; ++rank) ranks.push_back(start([=] { return wait_for_ever(rank); }));
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const std::string report = ranks[rank]->report();
    BOOST_TEST(says(report, "rank 2 (pid " + std::to_string(ranks[2]->pid()) + ")"), report);
    BOOST_TEST(says(report, "was ended by signal 9"), report);
    BOOST_TEST(says(report, "in barrier, operation 2"), report);
  }
  BOOST_TEST(!job.is_there());
}

BOOST_AUTO_TEST_CASE(a_file_of_something_else_is_refused_and_left_alone) {
  const TestJob job;
  const int file = shm_open(job.file().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const std::string letters(100'000, 'x');
  BOOST_REQUIRE(write(file, letters.data(), letters.size()) == 100'000);
  close(file);
  const std::string error = error_of_meeting(job.rank(0, 2, 2s));
  BOOST_TEST(error.starts_with("SegmentError: " + job.path() + " is refused"), error);
  BOOST_TEST(says(error, "isn't a segment of this library"), error);
  BOOST_TEST(job.is_there());
  BOOST_TEST(std::filesystem::file_size(job.path()) == 100'000u);
  job.remove();
}

BOOST_AUTO_TEST_CASE(options_that_can_t_be_right_are_refused_before_anything_is_made) {
  const TestJob job;
  const auto refused = [](ProcessGroupOptions options, std::string_view word) {
    const std::string error = error_of_meeting(options);
    BOOST_TEST(error.starts_with("InvalidArgument: "), error);
    BOOST_TEST(says(error, word), error << " lacks " << word);
  };
  refused(job.rank(-1, 2), "rank -1");
  refused(job.rank(2, 2), "rank 2");
  refused(job.rank(0, 0), "world_size is 0");
  refused(job.rank(0, 257), "world_size is 257");
  refused(job.rank(0, 2, 0ms), "timeout is 0 ms");
  refused(job.rank(0, 2, -5ms), "timeout is -5 ms");
  refused(job.rank(0, 2, std::chrono::milliseconds::max()), "at most 10000000000 ms");
  for (const std::string& name : {std::string("a/b"), std::string("../x"), std::string(""),
                                  std::string("a b"), std::string(kJobNameBytesMax + 1, 'x')}) {
    ProcessGroupOptions options = job.rank(0, 1);
    options.job_name = name;
    refused(options, "letters, digits");
  }
  BOOST_TEST(!job.is_there());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::distributed
