// One rank of a job as two state machines, stepped by hand: each step is one access to shared
// memory, made by the operations of lib/sync that ranks use.
//
// The rank goes through a sequence of join contexts. In each it announces iterations and makes one
// operation per iteration, without waiting for its end while the window allows; then it joins and
// waits until all have. The second machine completes the operations, in order: for each peer it
// looks for an arrival and, where there is none, for an absence; then it reads what the peer sent.
//
// Where ranks may die, the others go on without them, and each decides alone: who finds nothing
// looks whether the peer lives, and if it doesn't, once more for what it awaits. What is missing
// then is missing for ever. The dead count as joined, behind the last number that they posted.
#pragma once

#include "tests/sync/job_plan.h"

#include "lib/shm/segment.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tensorplay::sync {

// What is true of a job beside its memory.
struct Chronicle {
  std::vector<std::uint64_t> dead;    // by rank: 1 once it has died
  std::vector<std::uint64_t> begins;  // by context: its first number, once somebody has begun it
};

class SteppedRank {
 public:
  // `ranks`: all of the job, to know what is right; never to decide by.
  SteppedRank(const JobPlan& plan, const shm::Segment& segment, int rank, Chronicle& chronicle,
              const std::vector<SteppedRank>& ranks)
      : plan_(plan), segment_(segment), rank_(rank), chronicle_(chronicle), ranks_(ranks) {
    state_.call = first_call();
  }

  bool done() const { return state_.context == plan_.iterations.size(); }

  // One access of the machine that makes the calls, or of the one that completes operations. Does
  // nothing where the machine has to wait for the other one. What is wrong, "" if nothing.
  std::string step_caller();
  std::string step_completion();

  // Where both machines are.
  static constexpr std::size_t kStateWords = 15;
  std::array<std::uint64_t, kStateWords> state() const;
  void set_state(const std::array<std::uint64_t, kStateWords>& words);

 private:
  enum class Call : std::uint64_t {
    configure,
    enter,
    announce,
    write_line,
    write_slot,
    post,
    write_final,
    join,
    leave,
    look_at_boards,
  };
  // What is next of a peer's board.
  enum class Look : std::uint64_t { first_word, second_word, life };
  enum class Completion : std::uint64_t {
    look_for_arrival,
    look_for_absence,
    look_for_life,
    look_again,
    read_line,
    read_slot
  };

  struct State {
    std::uint64_t context = 0;  // index; the generation is one more
    std::uint64_t begin = 1;    // number of the context's first operation
    std::uint64_t iteration = 0;
    std::uint64_t posting = 1;     // the next number to post
    std::uint64_t completing = 1;  // the next number to complete
    Call call = Call::configure;
    std::uint64_t board_peer = 0;  // whose board is next; those before have joined or died
    Look look = Look::first_word;
    std::uint64_t saw_joined = 0;  // on the board, by the first look or the second
    std::uint64_t saw_iterations = 0;
    std::uint64_t saw_death = 0;     // of the peer whose board is looked at
    std::uint64_t final_number = 0;  // the greatest on the boards
    Completion completion = Completion::look_for_arrival;
    std::uint64_t peer = 0;
    std::uint64_t contributors = 0;  // one bit per rank
  };
  static_assert(sizeof(State) == kStateWords * sizeof(std::uint64_t));

  std::uint64_t generation() const { return state_.context + 1; }
  shm::MemberBlock& member(std::uint64_t of) const {
    return segment_.member_block(0, static_cast<int>(of));
  }
  shm::MemberBlock& own() const { return member(static_cast<std::uint64_t>(rank_)); }
  shm::JoinBoard& board(std::uint64_t of) const;
  bool has_died(std::uint64_t peer) const { return chronicle_.dead[peer] != 0; }
  bool makes(Mistake mistake) const { return plan_.mistake == mistake; }
  std::uint64_t iterations_of(std::uint64_t rank) const {
    return plan_.iterations[state_.context][rank];
  }

  Call first_call() const {
    return makes(Mistake::entered_before_arguments) ? Call::enter : Call::configure;
  }
  Call after(Call call) const;
  void go_on() { state_.call = after(state_.call); }
  void announce_or_leave();
  std::string look_at_board();
  void look_at_first_word(const shm::JoinBoard& board);
  std::string look_at_second_word(const shm::JoinBoard& board);
  std::string judge_board(const shm::JoinBoard& board);
  std::string count_as_joined(std::uint64_t final_number);
  std::string begin_next_context();
  std::uint64_t last_posted(std::uint64_t peer) const;
  std::uint64_t announced_by(std::uint64_t peer) const;

  std::string look_for_arrival();
  std::string look_for_absence();
  std::string look_for_life();
  std::string next_peer();
  std::string check_contributors() const;
  bool has_posted(std::uint64_t peer, std::uint64_t number) const;
  std::string wrong(const std::string& what) const;

  const JobPlan& plan_;
  const shm::Segment& segment_;
  int rank_;
  Chronicle& chronicle_;
  const std::vector<SteppedRank>& ranks_;
  State state_;
};

}  // namespace tensorplay::sync
