// spawn() under continue_without: what ends, what goes on, and what the caller is told.
#include <tensorplay/error.h>
#include <tensorplay/multiprocessing/spawn.h>

#include <pthread.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace tensorplay::multiprocessing {
namespace {

using distributed::Contributors;
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
        if (group.rank() != 1) return;
        ::signal(SIGSEGV, SIG_DFL);  // a sanitizer makes an exit code of it
        ::raise(SIGSEGV);
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

// Rank 1 can't be told of the failure that ended the others.
BOOST_AUTO_TEST_CASE(a_rank_that_stays_stopped_when_the_others_have_ended_is_ended) {
  SpawnOptions options = kSurvive;
  options.timeout = milliseconds(300);
  options.stopped_grace = milliseconds(400);
  const auto run = [&](const std::function<void(ProcessGroup&)>& others) -> std::string {
    try {
      const auto body = [&](ProcessGroup& group) {
        if (group.rank() == 1) {
          ::raise(SIGSTOP);
        } else {
          others(group);
        }
      };
      const SpawnReport report = spawn(3, body, options);
      return report.lost.size() == 1u ? "lost: " + report.lost[0].how : "others are lost";
    } catch (const SpawnFailure& failure) {
      const bool told = failure.lost().size() == 1u && failure.lost()[0].rank == 1;
      return told ? failure.what() : "another rank is lost";
    }
  };
  const std::string how = "was ended by signal 9 (SIGKILL): it had been stopped for ";
  const std::string lost = run([](ProcessGroup&) {});
  BOOST_TEST(lost.starts_with("lost: " + how), lost);
  BOOST_TEST(lost.ends_with(" s while no other rank was running"), lost);
  const std::string failed = run([](ProcessGroup& group) { group.barrier(); });
  BOOST_TEST(failed.find(" raised Timeout: ") != std::string::npos, failed);
  BOOST_TEST(!has_children());
}

// The child that is forked second ends before it is a rank of anything.
BOOST_AUTO_TEST_CASE(a_rank_that_dies_before_it_has_a_group_is_done_without) {
  static int forks = 0;
  static bool is_armed = true;
  ::pthread_atfork([] { ++forks; }, nullptr,
                   [] {
                     if (is_armed && forks == 2) ::raise(SIGKILL);
                   });
  const SpawnReport report = spawn(
      3,
      [](ProcessGroup& group) {
        const auto ranks = group.barrier().ranks();
        if (ranks != std::vector<int>{0, 2}) throw std::logic_error("other contributors");
      },
      kSurvive);
  is_armed = false;
  BOOST_REQUIRE(report.lost.size() == 1u);
  BOOST_TEST(report.lost[0].rank == 1);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(spawn_survivors_at_random_moments)

constexpr int kRanks = 4;
constexpr int kOperations = 300;

// What all_reduce should give, from what it says of who contributed.
std::int64_t sum_over(const Contributors& who, int operation) {
  std::int64_t sum = 0;
  who.for_each([&](int rank) { sum += (rank + 1) * (operation + 1); });
  return sum;
}

// Operations of all sizes and kinds of runs, each checked; a number for the story of contributors.
std::uint64_t reduce_again_and_again(ProcessGroup& group) {
  std::uint64_t story = 0;
  for (int operation = 0; operation < kOperations; ++operation) {
    constexpr std::array<std::size_t, 4> kCounts{1, 100, 5'000, 40'000};
    std::vector<std::int64_t> values(kCounts[static_cast<std::size_t>(operation) % 4],
                                     (group.rank() + 1) * (operation + 1));
    const Contributors who = group.all_reduce(std::span(values));
    const std::int64_t sum = sum_over(who, operation);
    if (!std::ranges::all_of(values, [&](std::int64_t value) { return value == sum; })) {
      throw std::logic_error("operation " + std::to_string(operation) + ": wrong sum over " +
                             to_string(who));
    }
    for (const int rank : who.ranks()) story = 31 * story + static_cast<std::uint64_t>(rank) + 1;
  }
  return story;
}

void expect_equal_stories(ProcessGroup& group, std::uint64_t own) {
  std::array<std::uint64_t, kRanks> stories{};
  const Contributors who = group.all_gather(std::span(&own, 1), std::span<std::uint64_t>(stories));
  who.for_each([&](int rank) {
    if (stories[static_cast<std::size_t>(rank)] != own) {
      throw std::logic_error("rank " + std::to_string(rank) + " tells of other contributors");
    }
  });
}

// SIGALRM, which ends a process that doesn't care for it.
void die_in(std::chrono::microseconds delay) {
  const itimerval once{{},
                       {delay.count() / 1'000'000, std::max<long>(1, delay.count() % 1'000'000)}};
  ::setitimer(ITIMER_REAL, &once, nullptr);
}

std::chrono::microseconds duration_of(const std::function<void()>& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() -
                                                               start);
}

SpawnReport spawn_with_deaths(const std::map<int, std::chrono::microseconds>& deaths) {
  SpawnOptions options = kSurvive;
  options.arena_bytes = std::size_t{8} << 20;
  options.timeout = std::chrono::seconds(50);
  return spawn(
      kRanks,
      [&](ProcessGroup& group) {
        const auto death = deaths.find(group.rank());
        if (death != deaths.end()) die_in(death->second);
        expect_equal_stories(group, reduce_again_and_again(group));
        if (death != deaths.end()) ::pause();
      },
      options);
}

BOOST_AUTO_TEST_CASE(survivors_have_right_results_and_agree_on_who_contributed) {
  const auto usual = duration_of([] { spawn_with_deaths({}); });
  for (unsigned seed = 1; seed <= 24; ++seed) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<long> moment(0, usual.count());
    std::map<int, std::chrono::microseconds> deaths;
    const std::size_t count = 1 + seed % 3;
    while (deaths.size() < count) {
      deaths.emplace(static_cast<int>(random() % kRanks),
                     std::chrono::microseconds(moment(random)));
    }
    BOOST_TEST_CONTEXT("seed " << seed) {
      BOOST_TEST(spawn_with_deaths(deaths).lost.size() == count);
      BOOST_TEST(!has_children());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::multiprocessing
