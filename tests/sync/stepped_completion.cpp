// The machine that completes operations: who takes part, and what they sent.
#include "tests/sync/stamp.h"
#include "tests/sync/stepped_rank.h"

#include "lib/sync/arrival.h"

namespace tensorplay::sync {

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
    case Completion::look_again:
      return look_for_arrival();
    case Completion::look_for_absence:
      return look_for_absence();
    case Completion::look_for_life:
      return look_for_life();
    case Completion::read_line:
      state_.completion = Completion::read_slot;
      return read_word(arrival_line(peer, number).payload.data()) == stamp(state_.peer, number)
                 ? ""
                 : wrong("an arrival line was overwritten before it was read, or not yet written");
    case Completion::read_slot:
      state_.contributors |= std::uint64_t{1} << state_.peer;
      return read_word(post_slot(peer, number)) == stamp(state_.peer, number)
                 ? next_peer()
                 : wrong("a post slot was overwritten before it was read, or not yet written");
  }
  return "";
}

std::string SteppedRank::look_for_arrival() {
  if (makes(Mistake::dead_are_absent) && has_died(state_.peer)) return next_peer();
  const std::uint64_t number = state_.completing;
  switch (observe_arrival(arrival_line(member(state_.peer), number), number)) {
    case Arrival::missing:
      // After the death it's missing for ever: absent, or lost.
      if (state_.completion == Completion::look_again) return next_peer();
      state_.completion = Completion::look_for_absence;
      return "";
    case Arrival::arrived:
      state_.completion = Completion::read_line;
      return "";
    case Arrival::overrun:
      return wrong("a peer has overrun it");
  }
  return "";
}

std::string SteppedRank::look_for_absence() {
  const shm::MemberBlock& peer = member(state_.peer);
  const bool absent = makes(Mistake::absence_of_any_number)
                          ? observe_absence(peer, absent_from(peer), state_.begin)
                          : observe_absence(peer, state_.completing, state_.begin);
  if (absent) return next_peer();
  state_.completion =
      plan_.mortals.empty() ? Completion::look_for_arrival : Completion::look_for_life;
  return "";
}

std::string SteppedRank::look_for_life() {
  if (!has_died(state_.peer)) {
    state_.completion = Completion::look_for_arrival;
    return "";
  }
  if (makes(Mistake::no_second_look)) return next_peer();
  state_.completion = Completion::look_again;
  return "";
}

std::string SteppedRank::next_peer() {
  state_.completion = Completion::look_for_arrival;
  if (++state_.peer < static_cast<std::uint64_t>(plan_.rank_count)) return "";
  const std::string finding = check_contributors();
  state_.peer = 0;
  state_.contributors = 0;
  ++state_.completing;
  return finding;
}

// The ranks that the plan lets take part, and of those who died, those that had posted it: what
// all ranks that ever complete this operation must find.
std::string SteppedRank::check_contributors() const {
  for (std::uint64_t rank = 0; rank < static_cast<std::uint64_t>(plan_.rank_count); ++rank) {
    const bool active = iterations_of(rank) > state_.completing - state_.begin;
    const bool expected = active && (!has_died(rank) || has_posted(rank, state_.completing));
    const bool found = (state_.contributors >> rank & 1) != 0;
    if (found != expected) {
      return wrong("the contributors are wrong: rank " + std::to_string(rank) +
                   (expected ? " is missing" : " isn't one"));
    }
  }
  return "";
}

bool SteppedRank::has_posted(std::uint64_t peer, std::uint64_t number) const {
  const State& theirs = ranks_[peer].state_;
  return theirs.context > state_.context ||
         (theirs.context == state_.context && theirs.posting > number);
}

}  // namespace tensorplay::sync
