// A process may take long to end after exit(). For the others its rank has ended by then.

#include "lib/distributed/attach.h"
#include "lib/shm/segment.h"
#include "lib/sync/liveness.h"
#include "tests/distributed/told.h"
#include "tests/shm/child_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace tensorplay::distributed {
namespace {

using testing::ChildProcess;

constexpr int kRanks = 3;
constexpr int kExiting = 1;
constexpr std::size_t kManyFloats = 100'000;

void stay() {
  while (true) pause();
}

// What handlers use: they have no arguments.
std::optional<ProcessGroup>& held_group() {
  static std::optional<ProcessGroup> group;
  return group;
}

struct ThreeRanks {
  std::shared_ptr<shm::Segment> segment;

  explicit ThreeRanks(PeerFailurePolicy policy)
      : segment(shm::Segment::create_anonymous({.world_size = kRanks,
                                                .arena_bytes = std::size_t{1} << 22,
                                                .on_peer_failure = policy})) {}

  ProcessGroup attach(int rank) const {
    return attach_rank(segment, rank, std::chrono::seconds(30));
  }
  std::unique_ptr<ChildProcess> start(const std::function<std::string()>& body) const {
    return std::make_unique<ChildProcess>(body);
  }
};

struct Raising : ThreeRanks {
  Raising() : ThreeRanks(PeerFailurePolicy::raise) {}

  // What `wait` throws on ranks 0 and 2, while rank 1 does as `exits` says and runs its handlers,
  // which never end.
  void expect_both_told(const std::function<void()>& exits, const std::string& words,
                        const std::function<void(ProcessGroup&)>& wait) const {
    std::vector<std::unique_ptr<ChildProcess>> waiting;
    for (const int rank : {0, 2}) {
      waiting.push_back(start([&, rank]() -> std::string {
        ProcessGroup group = attach(rank);
        return told(group, [&] { wait(group); });
      }));
    }
    ChildProcess exiting([&]() -> std::string {
      std::atexit(stay);
      exits();
      return "";
    });
    const std::string text = waiting[0]->report();
    BOOST_TEST(waiting[1]->report() == text);
    const std::string expected =
        "rank 1, exited: rank 1 (pid " + std::to_string(exiting.pid()) + ") " + words;
    BOOST_TEST(text.starts_with(expected), text);
    BOOST_TEST(waitpid(exiting.pid(), nullptr, WNOHANG) == 0, "its process has ended already");
  }
};

void wait_in_barrier(ProcessGroup& group) {
  group.barrier();
}

struct Surviving : ThreeRanks {
  Surviving() : ThreeRanks(PeerFailurePolicy::continue_without) {}
};

BOOST_AUTO_TEST_SUITE(exit_handlers)

BOOST_FIXTURE_TEST_CASE(an_exit_is_told_while_the_handlers_that_came_before_the_group_run,
                        Raising) {
  const auto exits = [this] {
    ProcessGroup group = attach(kExiting);
    std::exit(3);
  };
  expect_both_told(exits, "exited with code 3", wait_in_barrier);
}

BOOST_FIXTURE_TEST_CASE(an_exit_is_told_while_the_handlers_that_came_after_the_group_run, Raising) {
  const auto exits = [this] {
    ProcessGroup group = attach(kExiting);
    std::atexit(stay);
    std::exit(4);
  };
  expect_both_told(exits, "exited with code 4", wait_in_barrier);
}

BOOST_FIXTURE_TEST_CASE(an_exit_in_the_middle_of_an_operation_is_told, Raising) {
  const auto exits = [this] {
    ProcessGroup group = attach(kExiting);
    std::atexit(stay);
    std::signal(SIGALRM, [](int) { std::exit(5); });
    alarm(1);
    group.barrier();
  };
  // The first barrier ends if the rank had come to it.
  const auto wait = [this](ProcessGroup& group) {
    while (!sync::has_ended(sync::vitality(*segment, kExiting))) std::this_thread::yield();
    for (int i = 0; i < 2; ++i) group.barrier();
  };
  expect_both_told(exits, "exited with code 5", wait);
}

// Static objects end after the last words: that the group is given up then isn't told instead.
BOOST_FIXTURE_TEST_CASE(an_exit_is_told_also_when_a_static_object_has_given_the_group_up, Raising) {
  const auto exits = [this] {
    held_group().emplace(attach(kExiting));
    std::exit(0);
  };
  const auto wait = [this](ProcessGroup& group) {
    while (!sync::has_ended(sync::vitality(*segment, kExiting))) std::this_thread::yield();
    group.barrier();
  };
  expect_both_told(exits, "exited with code 0", wait);
}

// What it had posted counts on both survivors, what its handlers try doesn't.
BOOST_FIXTURE_TEST_CASE(survivors_agree_on_what_a_rank_had_posted_before_it_exited, Surviving) {
  const auto survive = [](ProcessGroup group) -> std::string {
    std::vector<float> values(kManyFloats, 1.0F);
    for (const int expected : {kRanks, kRanks, kRanks - 1, kRanks - 1}) {
      const Contributors contributors = group.all_reduce(std::span(values));
      if (contributors.count() != expected) return "contributors: " + to_string(contributors);
      values.assign(kManyFloats, 1.0F);
    }
    return "";
  };
  const auto first = start([&] { return survive(attach(0)); });
  const auto second = start([&] { return survive(attach(2)); });
  const auto exiting = start([this]() -> std::string {
    ProcessGroup group = attach(kExiting);
    std::vector<float> values(kManyFloats, 1.0F);
    group.all_reduce(std::span(values));
    held_group().emplace(group);
    std::atexit([] {
      try {
        held_group()->barrier();
      } catch (const InvalidArgument& error) {
        _exit(std::string(error.what()).find("once its process exits") == std::string::npos ? 8
                                                                                            : 7);
      }
      _exit(9);
    });
    const Work work = group.all_reduce_async(std::span(values));
    std::exit(3);
  });
  BOOST_TEST(first->report() == "");
  BOOST_TEST(second->report() == "");
  BOOST_TEST(WEXITSTATUS(exiting->reap()) == 7);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::distributed
