#include "tests/sync/stepped_rank.h"

#include "lib/sync/arrival.h"
#include "lib/sync/join_board.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tensorplay::sync {
namespace {

// What a rank sends in an operation.
std::uint64_t stamp(std::uint64_t rank, std::uint64_t number) {
  return number << 8 | rank;
}

void write_word(void* place, std::uint64_t word) {
  std::memcpy(place, &word, sizeof(word));
}

std::uint64_t read_word(const void* place) {
  std::uint64_t word = 0;
  std::memcpy(&word, place, sizeof(word));
  return word;
}

}  // namespace

std::uint64_t JobPlan::longest(std::size_t context) const {
  return *std::ranges::max_element(iterations[context]);
}

std::uint64_t JobPlan::first_number(std::size_t context) const {
  std::uint64_t number = 1;
  for (std::size_t i = 0; i < context; ++i) number += longest(i) + gap;
  return number;
}

std::array<std::uint64_t, SteppedRank::kStateWords> SteppedRank::state() const {
  return std::bit_cast<std::array<std::uint64_t, kStateWords>>(state_);
}

void SteppedRank::set_state(const std::array<std::uint64_t, kStateWords>& words) {
  state_ = std::bit_cast<State>(words);
}

std::string SteppedRank::wrong(const std::string& what) const {
  return "rank " + std::to_string(rank_) + " in context " + std::to_string(state_.context) +
         ", operation " + std::to_string(state_.completing) + ": " + what;
}

std::string SteppedRank::step_caller() {
  if (done()) return "";
  const auto rank = static_cast<std::uint64_t>(rank_);
  shm::JoinBoard& board = board_of(own(), generation());
  switch (state_.call) {
    case Call::configure:
      write_word(board.config.data(), generation());
      state_.call = Call::enter;
      break;
    case Call::enter:
      publish_iteration(board, generation(), 0);
      state_.call = Call::announce;
      break;
    case Call::announce:
      announce_or_leave();
      break;
    case Call::write_line:
      write_word(arrival_line(own(), state_.posting).payload.data(), stamp(rank, state_.posting));
      state_.call = Call::write_slot;
      break;
    case Call::write_slot:
      write_word(post_slot(own(), state_.posting), stamp(rank, state_.posting));
      state_.call = Call::post;
      break;
    case Call::post:
      publish_arrival(arrival_line(own(), state_.posting), state_.posting);
      ++state_.posting;
      state_.call = Call::announce;
      break;
    case Call::write_final:
      board.final_operation = state_.posting;
      state_.call = Call::join;
      break;
    case Call::join:
      publish_joined(board, generation());
      state_.call = Call::leave;
      break;
    case Call::leave:
      publish_absence(own(), state_.posting);
      state_.call = Call::look_at_boards;
      break;
    case Call::look_at_boards:
      return look_at_board();
  }
  return "";
}

void SteppedRank::announce_or_leave() {
  const std::uint64_t in_flight = state_.posting - state_.completing;
  if (state_.iteration == plan_.iterations[state_.context][static_cast<std::size_t>(rank_)]) {
    if (in_flight == 0) state_.call = Call::write_final;
    return;
  }
  if (in_flight >= plan_.window) return;
  ++state_.iteration;
  publish_iteration(board_of(own(), generation()), generation(), state_.iteration);
  state_.call = Call::write_line;
}

std::string SteppedRank::look_at_board() {
  const std::uint64_t peer = state_.joined_count;
  const shm::JoinBoard& board = board_of(member(peer), generation());
  const JoinBoardReading reading = read_board(board, generation());
  if (reading.passed) return wrong("a peer is two contexts ahead");
  if (reading.entered && read_word(board.config.data()) != generation()) {
    return wrong("a board shows the arguments of another context");
  }
  if (!reading.joined) return "";
  if (reading.iterations != plan_.iterations[state_.context][static_cast<std::size_t>(peer)]) {
    return wrong("a joined rank shows " + std::to_string(reading.iterations) + " iterations");
  }
  state_.final_number = std::max(state_.final_number, board.final_operation);
  if (++state_.joined_count == static_cast<std::uint64_t>(plan_.rank_count)) begin_next_context();
  return state_.begin == plan_.first_number(state_.context)
             ? ""
             : wrong("the ranks don't agree where the context begins");
}

void SteppedRank::begin_next_context() {
  State next;
  next.context = state_.context + 1;
  next.begin = state_.final_number + plan_.gap;
  next.posting = next.begin;
  next.completing = next.begin;
  state_ = next;
}

std::string SteppedRank::step_completion() {
  if (state_.completing == state_.posting) return "";
  if (state_.peer == static_cast<std::uint64_t>(rank_)) {
    state_.contributors |= std::uint64_t{1} << rank_;
    return next_peer();
  }
  const std::uint64_t number = state_.completing;
  shm::MemberBlock& peer = member(state_.peer);
  switch (state_.completion) {
    case Completion::look_for_arrival:
      return look_for_arrival();
    case Completion::look_for_absence:
      state_.completion = Completion::look_for_arrival;
      return observe_absence(peer, number, state_.begin) ? next_peer() : "";
    case Completion::read_line:
      state_.completion = Completion::read_slot;
      return read_word(arrival_line(peer, number).payload.data()) == stamp(state_.peer, number)
                 ? ""
                 : wrong("an arrival line was overwritten before it was read");
    case Completion::read_slot:
      state_.contributors |= std::uint64_t{1} << state_.peer;
      return read_word(post_slot(peer, number)) == stamp(state_.peer, number)
                 ? next_peer()
                 : wrong("a post slot was overwritten before it was read");
  }
  return "";
}

std::string SteppedRank::look_for_arrival() {
  switch (
      observe_arrival(arrival_line(member(state_.peer), state_.completing), state_.completing)) {
    case Arrival::missing:
      state_.completion = Completion::look_for_absence;
      break;
    case Arrival::arrived:
      state_.completion = Completion::read_line;
      break;
    case Arrival::overrun:
      return wrong("a peer has overrun it");
  }
  return "";
}

std::string SteppedRank::next_peer() {
  state_.completion = Completion::look_for_arrival;
  if (++state_.peer < static_cast<std::uint64_t>(plan_.rank_count)) return "";
  const bool right = state_.contributors == expected_contributors();
  const std::string finding = right ? "" : wrong("the contributors are wrong");
  state_.peer = 0;
  state_.contributors = 0;
  ++state_.completing;
  return finding;
}

std::uint64_t SteppedRank::expected_contributors() const {
  std::uint64_t expected = 0;
  for (std::size_t rank = 0; rank < plan_.iterations[state_.context].size(); ++rank) {
    const bool active = plan_.iterations[state_.context][rank] > state_.completing - state_.begin;
    expected |= std::uint64_t{active} << rank;
  }
  return expected;
}

}  // namespace tensorplay::sync
