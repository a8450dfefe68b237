// spawn() under continue_without: what ends, what goes on, and what the caller is told.
#include <tensorplay/error.h>
#include <tensorplay/multiprocessing/spawn.h>

#include <sys/wait.h>
#include <unistd.h>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

namespace tensorplay::multiprocessing {
namespace {

using distributed::PeerFailurePolicy;
using distributed::ProcessGroup;
using std::chrono::milliseconds;

// No grace: a rank that is ended early couldn't come to its end.
const SpawnOptions kSurvive{.on_peer_failure = PeerFailurePolicy::continue_without,
                            .grace = milliseconds(0),
                            .arena_bytes = std::size_t{1} << 20};

std::optional<SpawnFailure> failure_of(int world_size,
                                       const std::function<void(ProcessGroup&)>& body) {
  try {
    spawn(world_size, body, kSurvive);
  } catch (const SpawnFailure& failure) {
    return failure;
  }
  return std::nullopt;
}

bool has_children() {
  return ::waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD;
}

void work_for_a_while() {
  std::this_thread::sleep_for(milliseconds(300));
}

BOOST_AUTO_TEST_SUITE(spawn_survivors)

BOOST_AUTO_TEST_CASE(a_job_that_loses_nobody_reports_nobody) {
  BOOST_TEST(spawn(
                 3, [](ProcessGroup& group) { group.barrier(); }, kSurvive)
                 .lost.empty());
}

BOOST_AUTO_TEST_CASE(lost_ranks_are_reported_and_the_others_come_to_their_end) {
  const SpawnReport report = spawn(
      4,
      [](ProcessGroup& group) {
        if (group.rank() == 2) ::raise(SIGKILL);
        work_for_a_while();
        if (group.rank() == 1) ::raise(SIGSEGV);
      },
      kSurvive);
  BOOST_REQUIRE(report.lost.size() == 2u);
  BOOST_TEST(report.lost[0].rank == 2);
  BOOST_TEST(report.lost[0].pid > 0);
  BOOST_TEST(report.lost[0].how == "was ended by signal 9 (SIGKILL)");
  BOOST_TEST(report.lost[1].rank == 1);
  BOOST_TEST(report.lost[1].how == "was ended by signal 11 (SIGSEGV)");
  BOOST_TEST(!has_children());
}

BOOST_AUTO_TEST_CASE(a_rank_that_raises_fails_the_job_when_all_have_ended) {
  const auto start = std::chrono::steady_clock::now();
  const auto failure = failure_of(3, [](ProcessGroup& group) {
    if (group.rank() == 0) throw std::runtime_error("broken data");
    if (group.rank() == 1) ::raise(SIGKILL);
    work_for_a_while();
  });
  BOOST_REQUIRE(failure.has_value());
  BOOST_TEST((std::chrono::steady_clock::now() - start >= milliseconds(300)));
  BOOST_TEST(failure->rank() == 0);
  BOOST_TEST(std::string(failure->what()).ends_with("raised std::runtime_error: broken data"));
  BOOST_REQUIRE(failure->lost().size() == 1u);
  BOOST_TEST(failure->lost()[0].rank == 1);
  BOOST_TEST(!has_children());
}

BOOST_AUTO_TEST_CASE(an_exit_code_fails_the_job_too) {
  const auto failure = failure_of(2, [](ProcessGroup& group) {
    if (group.rank() == 1) ::_exit(3);
    work_for_a_while();
  });
  BOOST_REQUIRE(failure.has_value());
  BOOST_TEST(failure->rank() == 1);
  BOOST_TEST(failure->exit_code() == 3);
  BOOST_TEST(failure->lost().empty());
}

BOOST_AUTO_TEST_CASE(a_job_whose_ranks_are_all_lost_has_failed_by_the_first) {
  const auto failure = failure_of(3, [](ProcessGroup& group) {
    std::this_thread::sleep_for(milliseconds(200 * ((group.rank() + 1) % 3)));
    ::raise(SIGKILL);
  });
  BOOST_REQUIRE(failure.has_value());
  BOOST_TEST(failure->rank() == 2);
  BOOST_TEST(failure->exit_code() == 128 + SIGKILL);
  BOOST_TEST(failure->lost().size() == 3u);
  BOOST_TEST(!has_children());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::multiprocessing
