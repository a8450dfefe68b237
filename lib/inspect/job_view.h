// What a job looks like from outside, at one moment: plain figures, to be told in any form.
//
// Made from a copy of its segment (shm::Segment::copy_of), so nothing of it has to hold still, and
// nobody in the job notices. Every word is checked before it's used: a damaged segment gives a view
// that is wrong, never a crash. Words that changed while they were copied may be a moment apart.
#pragma once

#include "lib/shm/segment.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tensorplay::inspect {

enum class RankState {
  not_started,  // hasn't attached yet
  computing,    // in the user's code, as far as it tells: a wait shows after a millisecond or so
  waiting,      // in a collective, or for the others' announcements
  starting,     // waits for other ranks to attach
  joined,       // has joined, and waits until all have
  in_step,      // has joined, and takes part in what the active ranks do
  stopped,      // by a signal
  ended,        // has left the job, or is dead
};

// "not started", "computing", ... "ended".
const char* name(RankState state) noexcept;

// A collective that a rank has called.
struct CallView {
  std::uint64_t number = 0;  // in its group, from 1
  int group = 0;             // the group's slot; 0: the group of all ranks
  std::string text;          // "all_reduce (sum, float32, 65536 elements)"
};

struct RankView {
  int rank = 0;
  int pid = 0;  // 0: unknown
  RankState state = RankState::not_started;
  // In this state; not for those that haven't started or have ended.
  std::optional<std::chrono::nanoseconds> duration;
  std::string process;  // "running", "sleeping", "stopped by a signal", ...; "" if unknown
  std::string end;      // how it ended: "was ended by signal 9 (Killed)"

  std::optional<CallView> waits_in;       // the collective that it waits in
  std::uint64_t waits_for_iteration = 0;  // or the iteration that others have yet to announce
  // For whom: the ranks of the job that haven't come. None while it waits in a collective: all have
  // arrived, and the data are on their way.
  std::vector<int> waits_for;

  std::optional<CallView> last;  // the last collective that it has called
  bool last_under_way = false;   // and not completed
  std::uint64_t iterations = 0;  // announced in the Join context that it's in
  bool joined = false;           // in that context
};

struct JobView {
  std::vector<RankView> ranks;  // by rank
  // What the groups have failed by, for those that have, as all their ranks are told it.
  std::vector<std::string> failures;
};

// `now_ns` on CLOCK_MONOTONIC, of the moment when the copy was taken.
JobView view_of(const std::shared_ptr<shm::Segment>& copy, std::int64_t now_ns);

}  // namespace tensorplay::inspect
