// The machine that makes the calls: contexts, iterations, posts, and the boards at the end.
#include "tests/sync/stepped_rank.h"

#include "tests/sync/stamp.h"

#include "lib/sync/arrival.h"
#include "lib/sync/join_board.h"

#include <algorithm>
#include <bit>

namespace tensorplay::sync {

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

shm::JoinBoard& SteppedRank::board(std::uint64_t of) const {
  return makes(Mistake::one_board) ? member(of).boards[0] : board_of(member(of), generation());
}

// The order of the calls of one kind.
SteppedRank::Call SteppedRank::after(Call call) const {
  switch (call) {
    case Call::configure:
      return makes(Mistake::entered_before_arguments) ? Call::announce : Call::enter;
    case Call::enter:
      return makes(Mistake::entered_before_arguments) ? Call::configure : Call::announce;
    case Call::announce:
      return makes(Mistake::number_before_payload) ? Call::post : Call::write_line;
    case Call::write_line:
      return Call::write_slot;
    case Call::write_slot:
      return makes(Mistake::number_before_payload) ? Call::announce : Call::post;
    case Call::post:
      return makes(Mistake::number_before_payload) ? Call::write_line : Call::announce;
    case Call::write_final:
      return makes(Mistake::joined_before_final) ? Call::leave : Call::join;
    case Call::join:
      return makes(Mistake::joined_before_final) ? Call::write_final : Call::leave;
    case Call::leave:
    case Call::look_at_boards:
      return Call::look_at_boards;
  }
  return call;
}

std::string SteppedRank::step_caller() {
  if (done()) return "";
  const auto rank = static_cast<std::uint64_t>(rank_);
  // In the orders that are wrong the number has been posted already.
  const std::uint64_t number = state_.posting - (makes(Mistake::number_before_payload) ? 1 : 0);
  switch (state_.call) {
    case Call::configure:
      write_word(board(rank).config.data(), generation());
      break;
    case Call::enter:
      publish_iteration(board(rank), generation(), 0);
      break;
    case Call::announce:
      announce_or_leave();
      return "";
    case Call::write_line:
      write_word(arrival_line(own(), number).payload.data(), stamp(rank, number));
      break;
    case Call::write_slot:
      write_word(post_slot(own(), number), stamp(rank, number));
      break;
    case Call::post:
      publish_arrival(arrival_line(own(), state_.posting), state_.posting);
      ++state_.posting;
      break;
    case Call::write_final:
      board(rank).final_operation = state_.posting;
      break;
    case Call::join:
      publish_joined(board(rank), generation());
      break;
    case Call::leave:
      publish_absence(own(), state_.posting);
      break;
    case Call::look_at_boards:
      return look_at_board();
  }
  go_on();
  return "";
}

void SteppedRank::announce_or_leave() {
  const std::uint64_t in_flight = state_.posting - state_.completing;
  if (state_.iteration == iterations_of(static_cast<std::uint64_t>(rank_))) {
    if (in_flight != 0 && !makes(Mistake::absence_before_reading)) return;
    state_.call = makes(Mistake::joined_before_final) ? Call::join : Call::write_final;
    return;
  }
  if (in_flight >= plan_.window) return;
  ++state_.iteration;
  publish_iteration(board(static_cast<std::uint64_t>(rank_)), generation(), state_.iteration);
  go_on();
}

// read_board() makes two accesses, "SYNC joined" and then "SYNC iteration". Here they are two
// steps: of what the first call reads only the first word counts, of the second call only the
// other.
std::string SteppedRank::look_at_board() {
  // Only with Mistake::absence_before_reading is anything under way still.
  if (state_.completing != state_.posting) return "";
  const shm::JoinBoard& peers = board(state_.board_peer);
  switch (state_.look) {
    case Look::first_word:
      look_at_first_word(peers);
      return "";
    case Look::second_word:
      return look_at_second_word(peers);
    case Look::life:
      state_.look = Look::first_word;
      if (!has_died(state_.board_peer)) return "";
      state_.saw_death = 1;
      return makes(Mistake::no_second_look_at_board) ? judge_board(peers) : "";
  }
  return "";
}

void SteppedRank::look_at_first_word(const shm::JoinBoard& board) {
  const JoinBoardReading reading = read_board(board, generation());
  state_.saw_joined = reading.joined;
  state_.saw_iterations = reading.iterations;
  state_.look = Look::second_word;
}

std::string SteppedRank::look_at_second_word(const shm::JoinBoard& board) {
  const JoinBoardReading reading = read_board(board, generation());
  if (reading.passed) return wrong("a peer is two contexts ahead");
  if (reading.entered && read_word(board.config.data()) != generation()) {
    return wrong("a board shows the arguments of another context");
  }
  if (makes(Mistake::announced_read_first)) {
    state_.saw_joined = reading.joined;
  } else {
    state_.saw_iterations = reading.iterations;
  }
  state_.look = Look::first_word;
  return judge_board(board);
}

std::string SteppedRank::judge_board(const shm::JoinBoard& board) {
  if (state_.saw_joined == 0 && state_.saw_death == 0) {
    if (!plan_.mortals.empty()) state_.look = Look::life;
    return "";
  }
  if (state_.saw_iterations != announced_by(state_.board_peer)) {
    return wrong("a rank that has joined or died shows " + std::to_string(state_.saw_iterations) +
                 " iterations, not " + std::to_string(announced_by(state_.board_peer)));
  }
  if (state_.saw_joined != 0) return count_as_joined(board.final_operation);
  return count_as_joined(makes(Mistake::ends_where_survivor_ends)
                             ? state_.posting
                             : last_posted(state_.board_peer) + 1);
}

std::string SteppedRank::count_as_joined(std::uint64_t final_number) {
  state_.final_number = std::max(state_.final_number, final_number);
  state_.saw_joined = 0;
  state_.saw_iterations = 0;
  state_.saw_death = 0;
  if (++state_.board_peer < static_cast<std::uint64_t>(plan_.rank_count)) return "";
  return begin_next_context();
}

std::string SteppedRank::begin_next_context() {
  State next;
  next.context = state_.context + 1;
  next.begin = state_.final_number + plan_.gap();
  next.posting = next.begin;
  next.completing = next.begin;
  next.call = first_call();
  state_ = next;
  std::uint64_t& begin = chronicle_.begins[state_.context];
  if (begin == 0) begin = state_.begin;
  const bool agreed = begin == state_.begin;
  const bool as_planned = !plan_.mortals.empty() || begin == plan_.first_number(state_.context);
  return agreed && as_planned ? "" : wrong("the ranks don't agree where the context begins");
}

// Of a rank that is dead: its words have no writer any more, in however many steps they are read.
std::uint64_t SteppedRank::last_posted(std::uint64_t peer) const {
  std::uint64_t last = 0;
  for (const shm::ArrivalLine& line : member(peer).arrivals) {
    last = std::max(last, posted_number(line));
  }
  return last;
}

// The truth: how many iterations of this context the peer has announced.
std::uint64_t SteppedRank::announced_by(std::uint64_t peer) const {
  const State& theirs = ranks_[peer].state_;
  if (theirs.context != state_.context) {
    return theirs.context > state_.context ? iterations_of(peer) : 0;
  }
  return theirs.iteration;
}

}  // namespace tensorplay::sync
