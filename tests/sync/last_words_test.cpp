#include "lib/sync/last_words.h"

#include "lib/base/fault_point.h"
#include "tests/sync/one_rank.h"

#include <tensorplay/error.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

namespace tensorplay::sync {
namespace {

// The C++ run time prints the exception, too.
void silence() {
  if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(9);
}

bool silence_is_possible() {
  return true;
}

[[noreturn]] void exit_with_endless_handlers(int code) {
  std::atexit(stay);
  std::exit(code);
}

// The end, as peers see it, of a rank that does as `body` says with its words prepared.
struct Speaker : OneRank {
  EndOfLife end_by(const std::function<void()>& body) {
    const auto child = start([&] {
      const rlimit no_core{0, 0};
      setrlimit(RLIMIT_CORE, &no_core);
      silence();
      std::optional<LastWords> words;
      words.emplace(life, silence_is_possible);
      body();
      words.reset();
      release_life(*segment, 0, shm::LifeState::left);
    });
    child->reap();
    return end_of(life);
  }
};

// noexcept is where an exception ends that nobody catches.
void let_out(const std::function<void()>& body) noexcept {
  body();
}

BOOST_FIXTURE_TEST_SUITE(last_words, Speaker)

BOOST_AUTO_TEST_CASE(an_exception_that_nobody_catches_is_told_with_its_text) {
  const EndOfLife end =
      end_by([] { let_out([] { throw std::runtime_error("the disk is full"); }); });
  BOOST_TEST(end.known);
  BOOST_CHECK(end.cause == PeerFailure::Cause::raised);
  BOOST_TEST(end.text == "raised std::runtime_error: the disk is full");
  BOOST_CHECK(vitality(*segment, 0) == Vitality::vanished);
}

BOOST_AUTO_TEST_CASE(an_exception_of_ours_and_one_that_is_no_std_exception_are_told) {
  Speaker other;
  const EndOfLife ours = end_by([] { let_out([] { throw InvalidArgument("no such rank"); }); });
  BOOST_TEST(ours.text == "raised InvalidArgument: no such rank");
  const EndOfLife number = other.end_by([] { let_out([] { throw 3; }); });
  BOOST_TEST(number.text == "raised int, which isn't a std::exception");
}

BOOST_AUTO_TEST_CASE(an_exception_in_another_thread_of_the_rank_is_told) {
  const EndOfLife end =
      end_by([] { std::thread([] { throw std::runtime_error("in a thread"); }).join(); });
  BOOST_TEST(end.text == "raised std::runtime_error: in a thread");
}

BOOST_AUTO_TEST_CASE(the_handler_that_was_there_before_is_called_next) {
  const auto child = start([this] {
    std::set_terminate([] { _exit(7); });
    const LastWords words(life, silence_is_possible);
    let_out([] { throw std::runtime_error("told"); });
  });
  const int status = child->reap();
  BOOST_TEST(WEXITSTATUS(status) == 7);
  BOOST_TEST(end_of(life).text == "raised std::runtime_error: told");
}

BOOST_AUTO_TEST_CASE(termination_without_an_exception_is_left_to_the_signal) {
  BOOST_TEST(!end_by([] { std::terminate(); }).known);
}

BOOST_AUTO_TEST_CASE(an_exit_code_is_told) {
  const EndOfLife end = end_by([] { std::exit(3); });
  BOOST_CHECK(end.cause == PeerFailure::Cause::exited);
  BOOST_TEST(end.text == "exited with code 3");
}

BOOST_AUTO_TEST_CASE(the_rank_s_own_words_count_more_than_its_parent_s) {
  end_by([] { let_out([] { throw std::runtime_error("mine"); }); });
  record_end(life, PeerFailure::Cause::killed, "signal 6");
  BOOST_TEST(end_of(life).text == "raised std::runtime_error: mine");
}

BOOST_AUTO_TEST_CASE(who_has_left_says_nothing) {
  const auto child = start([this] {
    { const LastWords words(life, silence_is_possible); }
    release_life(*segment, 0, shm::LifeState::left);
    std::exit(4);
  });
  child->reap();
  BOOST_TEST(!end_of(life).known);
}

BOOST_AUTO_TEST_CASE(a_forked_child_doesn_t_speak_for_its_parent) {
  const auto child = start([this] {
    const LastWords words(life, silence_is_possible);
    testing::ChildProcess exits([]() -> std::string { std::exit(5); });
    exits.reap();
    testing::ChildProcess throws([]() -> std::string {
      silence();
      let_out([] { throw std::runtime_error("a child's"); });
      return "";
    });
    throws.reap();
    // Acquire: as in end_of().
    if (life.end.load(std::memory_order_acquire) != 0) _exit(1);
    std::exit(6);
  });
  child->reap();
  BOOST_TEST(end_of(life).text == "exited with code 6");
}

BOOST_AUTO_TEST_CASE(a_rank_has_ended_for_its_peers_while_later_handlers_run) {
  const auto child = start([this] {
    const LastWords words(life, silence_is_possible);
    exit_with_endless_handlers(3);
  });
  BOOST_TEST(becomes(*segment, Vitality::exiting));
  BOOST_TEST(end_of(life).text == "exited with code 3");
  child->send(SIGKILL);
  child->reap();
  BOOST_CHECK(vitality(*segment, 0) == Vitality::vanished);
  BOOST_TEST(end_of(life).text == "exited with code 3");
}

BOOST_AUTO_TEST_CASE(a_thread_that_made_the_rank_and_exits_speaks_before_later_handlers) {
  const auto child = start([this] {
    std::thread([this] {
      const LastWords words(life, silence_is_possible);
      exit_with_endless_handlers(4);
    }).join();
  });
  BOOST_TEST(becomes(*segment, Vitality::exiting));
  BOOST_TEST(end_of(life).text == "exited with code 4");
}

BOOST_AUTO_TEST_CASE(who_terminates_has_ended_while_the_next_handler_runs) {
  const auto child = start([this] {
    std::set_terminate(stay);
    const LastWords words(life, silence_is_possible);
    let_out([] { throw std::runtime_error("told"); });
  });
  BOOST_TEST(becomes(*segment, Vitality::exiting));
  BOOST_TEST(end_of(life).text == "raised std::runtime_error: told");
}

BOOST_AUTO_TEST_CASE(who_can_t_fall_silent_ends_for_its_peers_with_its_process) {
  const auto child = start([this] {
    const LastWords words(life, [] { return false; });
    exit_with_endless_handlers(3);
  });
  BOOST_TEST(comes_true([this] { return end_of(life).text == "exited with code 3"; }));
  BOOST_CHECK(vitality(*segment, 0) == Vitality::alive);
  child->send(SIGKILL);
  child->reap();
  BOOST_CHECK(vitality(*segment, 0) == Vitality::vanished);
}

// Ends by an exception, whose words are ready when the signal comes.
void be_signalled_while_speaking(shm::Life& life, FaultHandler signal) {
  silence();
  const LastWords words(life, silence_is_possible);
  fault_handler = signal;
  let_out([] { throw std::runtime_error("never heard"); });
}

// The kernel is asked as if it had said nothing, and others can tell.
BOOST_AUTO_TEST_CASE(who_dies_while_it_speaks_has_said_nothing) {
  const auto child =
      start([this] { be_signalled_while_speaking(life, [](const char*) { raise(SIGKILL); }); });
  child->wait_for_end();
  BOOST_TEST(end_of(life).text == "was ended by signal 9 (Killed)");
  record_end(life, PeerFailure::Cause::killed, "got a signal", 9);
  BOOST_TEST(end_of(life).text == "got a signal");
}

BOOST_AUTO_TEST_CASE(who_is_stopped_while_it_speaks_leaves_it_to_others_and_does_not_contradict) {
  const auto child =
      start([this] { be_signalled_while_speaking(life, [](const char*) { raise(SIGSTOP); }); });
  BOOST_REQUIRE(becomes(*segment, Vitality::alive));
  BOOST_REQUIRE(comes_true([this] { return activity_of(life) == "stopped by a signal"; }));
  record_end(life, PeerFailure::Cause::killed, "got a signal", 9);
  BOOST_TEST(end_of(life).text == "got a signal");
  child->send(SIGCONT);
  child->wait_for_end();
  BOOST_TEST(end_of(life).text == "got a signal");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::sync
