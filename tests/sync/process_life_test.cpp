// What a plain load of the mutex can't tell: threads, programs, namespaces, children.

#include "tests/sync/one_rank.h"

#include <tensorplay/error.h>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <functional>
#include <string>
#include <thread>

namespace tensorplay::sync {
namespace {

using testing::ChildProcess;

// Whether the kernel's mark is on the mutex: then the lock of the process decides.
bool is_marked(const shm::Life& life) {
  constexpr unsigned kOwnerDied = 0x40000000;
  return (static_cast<unsigned>(life.mutex.__data.__lock) & kOwnerDied) != 0;
}

void claim_in_a_thread_that_ends(const shm::Segment& segment) {
  std::thread([&segment] { claim_life(segment, 0); }).join();
}

// Makes a child in a PID namespace of its own run `body`, and waits for its end; false if we may
// not make one.
bool run_in_new_namespace(const std::function<void()>& body) {
  if (unshare(CLONE_NEWPID) != 0) return false;
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    body();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  return true;
}

BOOST_FIXTURE_TEST_SUITE(process_life, OneRank)

BOOST_AUTO_TEST_CASE(a_thread_that_ends_in_a_living_process_leaves_its_rank_alive) {
  claim_in_a_thread_that_ends(*segment);
  BOOST_REQUIRE(is_marked(life));
  BOOST_CHECK(vitality(*segment, 0) == Vitality::alive);
  // Another thread ends it; nobody has the mutex in its list any more.
  BOOST_TEST(release_life(*segment, 0, shm::LifeState::left));
  BOOST_CHECK(vitality(*segment, 0) == Vitality::left);
}

BOOST_AUTO_TEST_CASE(peers_in_other_processes_see_that_such_a_rank_lives_and_when_it_dies) {
  ChildProcess rank([this]() -> std::string {
    claim_in_a_thread_that_ends(*segment);
    stay();
  });
  BOOST_REQUIRE(comes_true([&] { return is_marked(life); }));
  BOOST_CHECK(vitality(*segment, 0) == Vitality::alive);
  rank.send(SIGKILL);
  rank.wait_for_end();
  BOOST_CHECK(vitality(*segment, 0) == Vitality::vanished);
  BOOST_TEST(end_of(life).text == "was ended by signal 9 (Killed)");
}

BOOST_AUTO_TEST_CASE(the_thread_that_goes_on_with_the_group_takes_the_mutex_over) {
  claim_in_a_thread_that_ends(*segment);
  keep_life(life);
  BOOST_TEST(!is_marked(life));
  keep_life(life);
  std::thread([this] { keep_life(life); }).join();
  BOOST_TEST(!is_marked(life));
  BOOST_TEST(release_life(*segment, 0, shm::LifeState::left));
}

BOOST_AUTO_TEST_CASE(a_main_thread_that_ends_before_its_process_doesn_t_end_the_rank) {
  ChildProcess rank([this]() -> std::string {
    claim_life(*segment, 0);
    std::thread(stay).detach();
    syscall(SYS_exit, 0);  // of this thread alone, and without unwinding the test
    return "";
  });
  BOOST_REQUIRE(comes_true([&] { return is_marked(life); }));
  // For /proc the process is a zombie now.
  BOOST_CHECK(vitality(*segment, 0) == Vitality::alive);
  rank.send(SIGTERM);
  rank.wait_for_end();
  BOOST_CHECK(vitality(*segment, 0) == Vitality::vanished);
  BOOST_TEST(end_of(life).text == "was ended by signal 15 (Terminated)");
}

BOOST_AUTO_TEST_CASE(a_rank_that_becomes_another_program_has_vanished) {
  const auto child = start([] { execl("/bin/sleep", "sleep", "1000", nullptr); });
  BOOST_TEST(becomes(*segment, Vitality::vanished));
  BOOST_TEST(kill(child->pid(), 0) == 0);
  BOOST_TEST(await_end(life).known);
  BOOST_CHECK(end_of(life).cause == PeerFailure::Cause::exited);
  BOOST_TEST(end_of(life).text == "replaced its program by execve() (it runs 'sleep' now)");
}

BOOST_AUTO_TEST_CASE(what_the_first_survivor_finds_out_the_others_tell_too) {
  {
    const auto child = start([] { std::raise(SIGKILL); });
    child->wait_for_end();
    BOOST_TEST(await_end(life).text == "was ended by signal 9 (Killed)");
  }  // the kernel has forgotten the process
  BOOST_TEST(await_end(life).text == "was ended by signal 9 (Killed)");
}

BOOST_AUTO_TEST_CASE(a_forked_child_doesn_t_keep_a_dead_rank_alive) {
  const auto child = start([] {
    if (fork() == 0) {
      sleep(3);
      _exit(0);
    }
    _exit(3);
  });
  child->wait_for_end();
  BOOST_CHECK(vitality(*segment, 0) == Vitality::vanished);
  BOOST_TEST(end_of(life).text == "exited with code 3");
}

BOOST_AUTO_TEST_CASE(a_forked_child_s_end_isn_t_its_parent_s) {
  BOOST_REQUIRE(claim_life(*segment, 0));
  ChildProcess copy([this]() -> std::string {
    segment.reset();  // closes the descriptor that it inherited
    return "";
  });
  BOOST_TEST(copy.report() == "");
  BOOST_CHECK(vitality(*segment, 0) == Vitality::alive);
  ChildProcess peer(
      [this]() -> std::string { return segment->is_rank_locked(0) ? "" : "the lock has gone"; });
  BOOST_TEST(peer.report() == "");
  release_life(*segment, 0, shm::LifeState::left);
}

BOOST_AUTO_TEST_CASE(a_process_that_died_while_taking_the_place_leaves_it_free) {
  ChildProcess child([this]() -> std::string {
    segment->lock_rank(0);
    raise(SIGKILL);
    return "";
  });
  child.wait_for_end();
  BOOST_CHECK(vitality(*segment, 0) == Vitality::absent);
  BOOST_TEST(claim_life(*segment, 0));
  release_life(*segment, 0, shm::LifeState::left);
}

// The number of a dead rank's process belongs to another one now.
BOOST_AUTO_TEST_CASE(a_process_with_the_number_of_a_dead_one_is_not_taken_for_it) {
  const auto child = start(stay);
  BOOST_REQUIRE(becomes(*segment, Vitality::alive));
  child->send(SIGKILL);
  child->reap();
  life.pid = getpid();
  BOOST_CHECK(vitality(*segment, 0) == Vitality::vanished);
  BOOST_TEST(!end_of(life).known);
  BOOST_TEST(activity_of(life) == "");
}

BOOST_AUTO_TEST_CASE(peers_in_another_pid_namespace_see_life_and_end_alike) {
  ChildProcess outer([this]() -> std::string {
    const bool made = run_in_new_namespace([&] {
      claim_in_a_thread_that_ends(*segment);
      sleep(2);
      _exit(3);
    });
    return made ? "" : "not permitted";
  });
  if (!becomes(*segment, Vitality::alive)) {
    BOOST_TEST_MESSAGE("skipped: this process may not make a PID namespace");
    return;
  }
  BOOST_REQUIRE(comes_true([&] { return is_marked(life); }));
  BOOST_CHECK(vitality(*segment, 0) == Vitality::alive);
  BOOST_TEST(outer.report() == "");
  BOOST_CHECK(vitality(*segment, 0) == Vitality::vanished);
  BOOST_TEST(end_of(life).text == "has ended (it exited or was killed)");
}

// In a namespace whose /proc shows another one's processes: number 1 is somebody else there.
BOOST_AUTO_TEST_CASE(a_proc_of_another_namespace_misleads_nobody) {
  ChildProcess outer([this]() -> std::string {
    const bool made = run_in_new_namespace([&] {
      const pid_t rank = fork();
      if (rank == 0) {
        claim_life(*segment, 0);
        _exit(3);
      }
      waitpid(rank, nullptr, 0);
      const bool right = rank == 2 && vitality(*segment, 0) == Vitality::vanished &&
                         !end_of(life).known && activity_of(life).empty();
      record_end(life, PeerFailure::Cause::exited, right ? "right" : "wrong");
    });
    return made ? "" : "not permitted";
  });
  const std::string report = outer.report();
  if (report != "") {
    BOOST_TEST_MESSAGE("skipped: this process may not make a PID namespace");
    return;
  }
  BOOST_TEST(end_of(life).text == "right");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::sync
