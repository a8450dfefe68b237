// Ranks whose process isn't one thread from beginning to end.

#include "lib/distributed/attach.h"
#include "lib/shm/segment.h"
#include "tests/distributed/told.h"
#include "tests/shm/child_process.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace tensorplay::distributed {
namespace {

using testing::ChildProcess;
using namespace std::chrono_literals;

struct TwoRanks {
  std::shared_ptr<shm::Segment> segment = shm::Segment::create_anonymous({.world_size = 2});

  ProcessGroup attach(int rank) const { return attach_rank(segment, rank, 30s); }
  // A group that another thread made, which has ended.
  ProcessGroup attach_in_thread(int rank) const {
    std::optional<ProcessGroup> group;
    std::thread([&] { group = attach(rank); }).join();
    return *group;
  }
};

// Longer than two looks of a sleeper.
void be_busy() {
  std::this_thread::sleep_for(120ms);
}

BOOST_FIXTURE_TEST_SUITE(process_life, TwoRanks)

BOOST_AUTO_TEST_CASE(a_rank_outlives_the_thread_that_made_its_group) {
  const auto train = [](ProcessGroup group, bool slowly) {
    for (int i = 0; i < 4; ++i) {
      if (slowly) be_busy();
      add_up(group, 1, 10);
    }
  };
  ChildProcess peer([&]() -> std::string {
    train(attach(0), false);
    return "";
  });
  ChildProcess rank([&]() -> std::string {
    train(attach_in_thread(1), true);
    return "";
  });
  BOOST_TEST(peer.report() == "");
  BOOST_TEST(rank.report() == "");
}

BOOST_AUTO_TEST_CASE(a_group_goes_from_thread_to_thread_and_each_may_end) {
  ChildProcess peer([this]() -> std::string {
    ProcessGroup group = attach(0);
    add_up(group, 1, 30);
    return "";
  });
  ChildProcess rank([this]() -> std::string {
    ProcessGroup group = attach(1);
    for (int i = 0; i < 3; ++i) {
      std::thread([&] { add_up(group, 1, 10); }).join();
      if (i == 1) be_busy();
    }
    return "";
  });
  BOOST_TEST(peer.report() == "");
  BOOST_TEST(rank.report() == "");
}

// The first thread of a process ends, another one trains on, and is killed.
BOOST_AUTO_TEST_CASE(a_main_thread_that_ends_leaves_a_rank_that_trains_until_it_dies) {
  ChildProcess peer([this]() -> std::string {
    ProcessGroup group = attach(0);
    add_up(group, 1, 20);
    return told(group, [&] { group.barrier(); });
  });
  ChildProcess rank([this]() -> std::string {
    std::thread([group = attach(1)]() mutable {
      be_busy();
      add_up(group, 1, 20);
      raise(SIGKILL);
    }).detach();
    syscall(SYS_exit, 0);  // of this thread alone
    return "";
  });
  const std::string text = peer.report();
  BOOST_TEST(text.starts_with("rank 1, killed: rank 1 (pid " + std::to_string(rank.pid())), text);
  BOOST_TEST((text.find("signal 9") != std::string::npos), text);
}

// It has the rank's memory, descriptors and handle; its own end isn't the rank's either.
BOOST_AUTO_TEST_CASE(a_forked_child_that_lives_on_doesn_t_keep_its_rank_alive) {
  ChildProcess peer([this]() -> std::string {
    ProcessGroup group = attach(0);
    add_up(group, 1, 2);
    return told(group, [&] { group.barrier(); });
  });
  ChildProcess rank([this]() -> std::string {
    ProcessGroup group = attach(1);
    add_up(group, 1, 1);
    if (fork() == 0) _exit(0);
    if (fork() == 0) {
      sleep(3);
      _exit(0);
    }
    be_busy();
    add_up(group, 1, 1);
    _exit(5);
  });
  const std::string text = peer.report();
  BOOST_TEST(text.starts_with("rank 1, exited: rank 1 (pid " + std::to_string(rank.pid())), text);
  BOOST_TEST((text.find("exited with code 5") != std::string::npos), text);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::distributed
