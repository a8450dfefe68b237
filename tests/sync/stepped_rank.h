// One rank of a job as two state machines, stepped by hand: each step is one access to shared
// memory, made by the operations of lib/sync that ranks use.
//
// The rank goes through a sequence of join contexts. In each it announces iterations and makes one
// operation per iteration, without waiting for its end while the window allows; then it joins and
// waits until all have. The second machine completes the operations, in order: for each peer it
// looks for an arrival and, where there is none, for an absence; then it reads what the peer sent.
#pragma once

#include "lib/shm/segment.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tensorplay::sync {

struct JobPlan {
  int rank_count = 2;
  // By context and rank. Every operation of an iteration is contributed to by the ranks that have
  // as many.
  std::vector<std::vector<std::uint64_t>> iterations;
  // Operations posted and not completed, at most. The protocol's, but to see a wrong one fail.
  std::uint64_t window = shm::kOperationsInFlight;
  // How far behind the last number of a context the next one begins: an absence from the last
  // number on must not count in the next context.
  std::uint64_t gap = 1;

  std::uint64_t longest(std::size_t context) const;
  // The number of a context's first operation.
  std::uint64_t first_number(std::size_t context) const;
};

class SteppedRank {
 public:
  SteppedRank(const JobPlan& plan, const shm::Segment& segment, int rank)
      : plan_(plan), segment_(segment), rank_(rank) {}

  bool done() const { return state_.context == plan_.iterations.size(); }

  // One access of the machine that makes the calls, or of the one that completes operations. Does
  // nothing where the machine has to wait for the other one. What is wrong, "" if nothing.
  std::string step_caller();
  std::string step_completion();

  // Where both machines are.
  static constexpr std::size_t kStateWords = 11;
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
  enum class Completion : std::uint64_t {
    look_for_arrival,
    look_for_absence,
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
    std::uint64_t joined_count = 0;  // boards seen joined
    std::uint64_t final_number = 0;  // the greatest on them
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

  void announce_or_leave();
  std::string look_at_board();
  void begin_next_context();
  std::string look_for_arrival();
  std::string next_peer();
  std::uint64_t expected_contributors() const;
  std::string wrong(const std::string& what) const;

  const JobPlan& plan_;
  const shm::Segment& segment_;
  int rank_;
  State state_;
};

}  // namespace tensorplay::sync
