#include "lib/sync/liveness.h"

#include "lib/shm/layout.h"
#include "lib/sync/end_word.h"
#include "tests/sync/one_rank.h"

#include <tensorplay/error.h>

#include <unistd.h>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>

namespace tensorplay::sync {
namespace {

BOOST_FIXTURE_TEST_SUITE(liveness, OneRank)

BOOST_AUTO_TEST_CASE(a_place_that_nobody_took_is_absent) {
  BOOST_CHECK(vitality(*segment, 0) == Vitality::absent);
}

BOOST_AUTO_TEST_CASE(a_place_is_taken_once) {
  BOOST_TEST(claim_life(*segment, 0));
  BOOST_TEST(!claim_life(*segment, 0));
  release_life(*segment, 0, shm::LifeState::left);
  BOOST_TEST(!claim_life(*segment, 0));
}

BOOST_AUTO_TEST_CASE(a_rank_is_alive_from_its_claim_to_its_release) {
  BOOST_TEST(claim_life(*segment, 0));
  BOOST_CHECK(vitality(*segment, 0) == Vitality::alive);
  BOOST_TEST(process_label(life) == "pid " + std::to_string(getpid()));
  release_life(*segment, 0, shm::LifeState::left);
  BOOST_CHECK(vitality(*segment, 0) == Vitality::left);
}

BOOST_AUTO_TEST_CASE(a_rank_that_left_is_told_from_one_that_raised) {
  const auto child = start([this] { release_life(*segment, 0, shm::LifeState::raised); });
  BOOST_TEST(child->report() == "");
  BOOST_CHECK(vitality(*segment, 0) == Vitality::raised);
}

BOOST_AUTO_TEST_CASE(a_child_is_alive_while_it_runs) {
  const auto child = start(stay);
  BOOST_TEST(becomes(*segment, Vitality::alive));
  BOOST_TEST(life.pid == child->pid());
  BOOST_CHECK(vitality(*segment, 0) == Vitality::alive);
}

BOOST_AUTO_TEST_CASE(an_exit_without_a_word_is_seen_before_the_child_is_reaped) {
  const auto child = start([] { _exit(3); });
  child->wait_for_end();
  BOOST_CHECK(vitality(*segment, 0) == Vitality::vanished);
  const EndOfLife end = end_of(life);
  BOOST_TEST(end.known);
  BOOST_CHECK(end.cause == PeerFailure::Cause::exited);
  BOOST_TEST(end.text == "exited with code 3");
}

BOOST_AUTO_TEST_CASE(a_child_that_returns_without_releasing_has_vanished) {
  const auto child = start([] {});
  BOOST_TEST(child->report() == "");
  BOOST_CHECK(vitality(*segment, 0) == Vitality::vanished);
}

BOOST_AUTO_TEST_CASE(a_killed_child_is_seen_with_its_signal) {
  for (const int signal : {SIGKILL, SIGTERM}) {
    OneRank place;
    const auto child = place.start(stay);
    BOOST_REQUIRE(becomes(*place.segment, Vitality::alive));
    child->send(signal);
    child->wait_for_end();
    BOOST_CHECK(vitality(*place.segment, 0) == Vitality::vanished);
    const EndOfLife end = end_of(place.life);
    BOOST_TEST(end.known);
    BOOST_CHECK(end.cause == PeerFailure::Cause::killed);
    BOOST_TEST(end.text.find("signal " + std::to_string(signal)) != std::string::npos);
    BOOST_TEST(end.text.find(signal == SIGKILL ? "Killed" : "Terminated") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(of_a_reaped_child_only_the_end_is_known) {
  const auto child = start(stay);
  BOOST_REQUIRE(becomes(*segment, Vitality::alive));
  child->send(SIGKILL);
  child->reap();
  BOOST_CHECK(vitality(*segment, 0) == Vitality::vanished);
  BOOST_TEST(!end_of(life).known);
  BOOST_TEST(end_of(life).text == "has ended (it exited or was killed)");
}

BOOST_AUTO_TEST_CASE(what_the_parent_records_outlives_the_reaping) {
  const auto child = start(stay);
  BOOST_REQUIRE(becomes(*segment, Vitality::alive));
  child->send(SIGKILL);
  child->reap();
  record_end(life, PeerFailure::Cause::killed, "ran out of luck");
  BOOST_TEST(end_of(life).known);
  BOOST_CHECK(end_of(life).cause == PeerFailure::Cause::killed);
  BOOST_TEST(end_of(life).text == "ran out of luck");
}

BOOST_AUTO_TEST_CASE(the_first_record_of_an_end_counts) {
  record_end(life, PeerFailure::Cause::exited, "first");
  record_end(life, PeerFailure::Cause::killed, "second");
  BOOST_CHECK(end_of(life).cause == PeerFailure::Cause::exited);
  BOOST_TEST(end_of(life).text == "first");
}

BOOST_AUTO_TEST_CASE(a_text_too_long_is_cut) {
  record_end(life, PeerFailure::Cause::raised, std::string(1000, 'x'));
  BOOST_TEST(end_of(life).text == std::string(sizeof(shm::EndRecord::text) - 1, 'x'));
}

BOOST_AUTO_TEST_CASE(a_text_without_its_end_is_read_no_further) {
  record_end(life, PeerFailure::Cause::raised, "text");
  life.end_records[0].text.fill('y');
  BOOST_TEST(end_of(life).text == std::string(sizeof(shm::EndRecord::text), 'y'));
}

BOOST_AUTO_TEST_CASE(a_cause_that_does_not_exist_is_not_passed_on) {
  life.end_records[1].cause = 4711;
  for (const std::uint64_t end : {end_word(1), std::uint64_t{4711}, ~std::uint64_t{0}}) {
    // Release: as record_end() stores it.
    life.end.store(end, std::memory_order_release);
    BOOST_CHECK(end_of(life).cause <= PeerFailure::Cause::killed);
  }
}

BOOST_AUTO_TEST_CASE(a_record_that_does_not_exist_is_not_read) {
  for (std::uint64_t number = shm::kEndRecords; number < 255; ++number) {
    // Release: as record_end() stores it.
    life.end.store(number + 1, std::memory_order_release);
    BOOST_TEST(end_of(life).text == "raised an exception");
  }
}

BOOST_AUTO_TEST_CASE(an_end_is_told_without_words_when_all_records_are_taken) {
  // Relaxed: one thread.
  life.end_records_taken.store(shm::kEndRecords, std::memory_order_relaxed);
  record_end(life, PeerFailure::Cause::killed, "was unlucky", 9);
  const EndOfLife end = end_of(life);
  BOOST_CHECK(end.cause == PeerFailure::Cause::killed);
  BOOST_TEST(end.status == 9);
  BOOST_TEST(end.text == "was ended by signal 9 (Killed)");
}

BOOST_AUTO_TEST_CASE(words_that_follow_from_the_status_take_no_record) {
  record_end(life, PeerFailure::Cause::exited, "exited with code 3", 3);
  BOOST_TEST(end_of(life).text == "exited with code 3");
  BOOST_TEST(end_of(life).status == 3);
  // Relaxed: one thread.
  BOOST_TEST(life.end_records_taken.load(std::memory_order_relaxed) == 0U);
}

BOOST_AUTO_TEST_CASE(a_stopped_rank_is_alive_and_said_to_be_stopped) {
  const auto child = start(stay);
  BOOST_REQUIRE(becomes(*segment, Vitality::alive));
  child->send(SIGSTOP);
  for (int i = 0; i < 20'000 && activity_of(life) != "stopped by a signal"; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  BOOST_TEST(activity_of(life) == "stopped by a signal");
  BOOST_CHECK(vitality(*segment, 0) == Vitality::alive);
  child->send(SIGCONT);
  for (int i = 0; i < 20'000 && activity_of(life) != "sleeping"; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  BOOST_TEST(activity_of(life) == "sleeping");
}

BOOST_AUTO_TEST_CASE(a_running_rank_is_said_to_run) {
  BOOST_TEST(claim_life(*segment, 0));
  BOOST_TEST(activity_of(life) == "running");
  release_life(*segment, 0, shm::LifeState::left);
}

BOOST_AUTO_TEST_CASE(a_peer_sees_the_end_through_its_own_mapping) {
  const auto again = segment->map_again();
  const auto child = start([] { _exit(0); });
  child->wait_for_end();
  BOOST_CHECK(vitality(*again, 0) == Vitality::vanished);
  BOOST_TEST(end_of(again->rank_block(0).life).text == "exited with code 0");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::sync
