#include "lib/shm/segment.h"
#include "lib/sync/arrival.h"
#include "lib/sync/join_board.h"
#include "lib/sync/progress.h"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <set>

namespace tensorplay::sync {
namespace {

struct OneMember {
  std::shared_ptr<shm::Segment> segment = shm::Segment::create_anonymous({.world_size = 1});
  shm::MemberBlock& member = segment->member_block(0, 0);
};

BOOST_FIXTURE_TEST_SUITE(words, OneMember)

BOOST_AUTO_TEST_CASE(nothing_has_arrived_in_fresh_memory) {
  for (std::uint64_t number = 1; number <= shm::kOperationSlots; ++number) {
    BOOST_CHECK(observe_arrival(arrival_line(member, number), number) == Arrival::missing);
  }
  BOOST_TEST(posted_number(arrival_line(member, 1)) == 0U);
}

BOOST_AUTO_TEST_CASE(an_arrival_counts_for_its_operation_alone) {
  shm::ArrivalLine& line = arrival_line(member, 20);
  publish_arrival(line, 20);
  BOOST_CHECK(observe_arrival(line, 20) == Arrival::arrived);
  BOOST_CHECK(observe_arrival(line, 20 + shm::kOperationSlots) == Arrival::missing);
  BOOST_CHECK(observe_arrival(line, 20 - shm::kOperationSlots) == Arrival::overrun);
  BOOST_TEST(posted_number(line) == 20U);
}

BOOST_AUTO_TEST_CASE(successive_operations_have_lines_and_slots_of_their_own) {
  std::set<const void*> places;
  for (std::uint64_t number = 1000; number < 1000 + shm::kOperationSlots; ++number) {
    places.insert(&arrival_line(member, number));
    places.insert(post_slot(member, number));
  }
  BOOST_TEST(places.size() == 2 * shm::kOperationSlots);
  BOOST_TEST(&arrival_line(member, 3) == &arrival_line(member, 3 + shm::kOperationSlots));
  BOOST_TEST(post_slot(member, 3) == post_slot(member, 3 + shm::kOperationSlots));
}

BOOST_AUTO_TEST_CASE(an_absence_counts_from_its_operation_on) {
  publish_absence(member, 10);
  BOOST_TEST(!observe_absence(member, 9, 1));
  BOOST_TEST(observe_absence(member, 10, 1));
  BOOST_TEST(observe_absence(member, 1'000'000, 1));
}

BOOST_AUTO_TEST_CASE(an_absence_from_before_the_context_counts_no_more) {
  publish_absence(member, 10);
  BOOST_TEST(observe_absence(member, 11, 10));
  BOOST_TEST(!observe_absence(member, 11, 11));
  BOOST_TEST(!observe_absence(member, 12, 11));
}

BOOST_AUTO_TEST_CASE(nobody_is_absent_in_fresh_memory) {
  BOOST_TEST(!observe_absence(member, 1, 1));
}

BOOST_AUTO_TEST_CASE(progress_counts_rounds_within_operations) {
  std::atomic<std::uint64_t>& word = member.progress.staged;
  BOOST_TEST(!observe_progress(word, progress_value(1, 0)));
  publish_progress(word, progress_value(7, 3));
  BOOST_TEST(observe_progress(word, progress_value(7, 3)));
  BOOST_TEST(observe_progress(word, progress_value(7, 2)));
  BOOST_TEST(!observe_progress(word, progress_value(7, 4)));
  BOOST_TEST(!observe_progress(word, progress_value(8, 0)));
}

BOOST_AUTO_TEST_CASE(the_most_rounds_of_one_operation_come_before_the_next_operation) {
  BOOST_TEST(progress_value(7, kRoundsMax) < progress_value(8, 0));
  BOOST_TEST(progress_value(7, kRoundsMax) + 1 == progress_value(8, 0));
}

BOOST_AUTO_TEST_CASE(contexts_that_follow_one_another_use_different_boards) {
  BOOST_TEST(&board_of(member, 1) != &board_of(member, 2));
  BOOST_TEST(&board_of(member, 1) == &board_of(member, 3));
}

BOOST_AUTO_TEST_CASE(a_fresh_board_tells_of_no_context) {
  const JoinBoardReading reading = read_board(board_of(member, 1), 1);
  BOOST_TEST(!reading.entered);
  BOOST_TEST(!reading.passed);
  BOOST_TEST(!reading.joined);
  BOOST_TEST(reading.iterations == 0U);
}

BOOST_AUTO_TEST_CASE(a_board_tells_iterations_and_the_end) {
  shm::JoinBoard& board = board_of(member, 3);
  publish_iteration(board, 3, 0);
  BOOST_TEST(read_board(board, 3).entered);
  publish_iteration(board, 3, 41);
  BOOST_TEST(read_board(board, 3).iterations == 41U);
  BOOST_TEST(!read_board(board, 3).joined);
  publish_joined(board, 3);
  BOOST_TEST(read_board(board, 3).joined);
  BOOST_TEST(read_board(board, 3).iterations == 41U);
  BOOST_TEST(!read_board(board, 3).passed);
}

BOOST_AUTO_TEST_CASE(an_old_context_is_not_taken_for_the_one_asked_for) {
  shm::JoinBoard& board = board_of(member, 3);
  publish_iteration(board, 3, 7);
  publish_joined(board, 3);
  const JoinBoardReading next = read_board(board, 5);
  BOOST_TEST(!next.entered);
  BOOST_TEST(!next.joined);
  BOOST_TEST(next.iterations == 0U);
}

BOOST_AUTO_TEST_CASE(a_member_in_a_later_context_is_seen_to_have_passed) {
  shm::JoinBoard& board = board_of(member, 3);
  publish_iteration(board, 3, 7);
  publish_joined(board, 3);
  publish_iteration(board, 5, 1);
  const JoinBoardReading reading = read_board(board, 3);
  BOOST_TEST(reading.passed);
  BOOST_TEST(!reading.entered);
  BOOST_TEST(!reading.joined);
  BOOST_TEST(!read_board(board, 5).joined);
}

BOOST_AUTO_TEST_CASE(generations_go_on_when_the_word_has_no_more_room_for_them) {
  const std::uint64_t wrapped = std::uint64_t{1} << (64 - shm::kIterationBits);
  for (const std::uint64_t generation : {wrapped - 1, wrapped, wrapped + 1, 5 * wrapped}) {
    shm::JoinBoard& board = board_of(member, generation);
    publish_iteration(board, generation, 7);
    publish_joined(board, generation);
    BOOST_TEST(read_board(board, generation).joined);
    BOOST_TEST(read_board(board, generation).iterations == 7u);
    BOOST_TEST(!read_board(board, generation).passed);
    BOOST_TEST(read_board(board, generation - 2).passed);
    BOOST_TEST(!read_board(board, generation + 2).entered);
    BOOST_TEST(!read_board(board, generation + 2).passed);
  }
}

BOOST_AUTO_TEST_CASE(the_most_iterations_do_not_touch_the_generation) {
  shm::JoinBoard& board = board_of(member, 3);
  const std::uint64_t most = (std::uint64_t{1} << shm::kIterationBits) - 1;
  publish_iteration(board, 3, most);
  BOOST_TEST(read_board(board, 3).entered);
  BOOST_TEST(read_board(board, 3).iterations == most);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::sync
