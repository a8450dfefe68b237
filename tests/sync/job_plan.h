// What the ranks of a stepped job do, and what they may do wrong.
#pragma once

#include "lib/shm/layout.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tensorplay::sync {

// A protocol that is broken on purpose, to see that the models find it.
enum class Mistake {
  none,
  // Arrival and membership.
  number_before_payload,   // publishes the number, then fills in line and slot
  absence_before_reading,  // is absent before it has read what the others sent
  absence_of_any_number,   // takes a peer that is absent from some operation for absent from all
  // The join board.
  entered_before_arguments,  // enters, then writes the board's config
  joined_before_final,       // tells that it has joined, then at which number
  announced_read_first,      // reads `announced` before `joined`
  // From one context to the next.
  resumes_at_last,  // with the number from which absences count
  one_board,        // for all contexts
  // A rank that has died, on the side of those that go on without it.
  no_second_look,   // finds no arrival, then the death, and leaves it at that
  dead_are_absent,  // leaves the dead out of whatever it completes after the death
  no_second_look_at_board,
  ends_where_survivor_ends,  // takes its own number for the last one of the dead
};

struct JobPlan {
  int rank_count = 2;
  // By context and rank. Every operation of an iteration is contributed to by the ranks that have
  // as many.
  std::vector<std::vector<std::uint64_t>> iterations;
  // Operations posted and not completed, at most. The protocol's, but to see a wrong one fail.
  std::uint64_t window = shm::kOperationsInFlight;
  // Ranks that may die, at any moment. The others go on without them.
  std::vector<int> mortals = {};
  Mistake mistake = Mistake::none;

  // How far behind the last number of a context the next one begins: an absence from the last
  // number on must not count in the next context.
  std::uint64_t gap() const { return mistake == Mistake::resumes_at_last ? 0 : 1; }
  std::uint64_t longest(std::size_t context) const;
  // The number of a context's first operation, if nobody dies.
  std::uint64_t first_number(std::size_t context) const;
};

// A job of up to eight ranks, several contexts, and up to some fifty iterations.
JobPlan random_plan(std::uint64_t seed);
// The same, with one to all but one of the ranks mortal.
JobPlan random_plan_with_deaths(std::uint64_t seed);

}  // namespace tensorplay::sync
