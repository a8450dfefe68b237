#include "lib/inspect/job_view.h"

#include "lib/distributed/failure.h"
#include "lib/distributed/posted_call.h"
#include "lib/inspect/group_view.h"
#include "lib/sync/activity.h"
#include "lib/sync/arrival.h"
#include "lib/sync/failure.h"
#include "lib/sync/join_board.h"
#include "lib/sync/liveness.h"

#include <algorithm>

namespace tensorplay::inspect {
namespace {

using collectives::GroupMemory;

CallView call_of(const GroupMemory& group, int member, std::uint64_t number) {
  const auto posted = distributed::posted_call(group.member(member), number, group.size());
  return {number, group.slot(), posted ? distributed::describe(posted->call) : "a collective"};
}

const GroupMemory* find(const std::vector<GroupMemory>& groups, int slot) {
  const auto found = std::ranges::find(groups, slot, &GroupMemory::slot);
  return found == groups.end() ? nullptr : &*found;
}

// The others of whom `has_come` isn't true, as ranks of the job.
template <typename HasCome>
std::vector<int> missing(const GroupMemory& group, int self, HasCome&& has_come) {
  std::vector<int> ranks;
  for (int member = 0; member < group.size(); ++member) {
    if (member != self && !has_come(member)) ranks.push_back(group.world_rank(member));
  }
  return ranks;
}

std::vector<int> missing_in_operation(const GroupMemory& group, int self, std::uint64_t number) {
  return missing(group, self, [&](int member) {
    const shm::MemberBlock& block = group.member(member);
    return distributed::last_posted(block) >= number || sync::observe_absence(block, number, 1);
  });
}

std::vector<int> missing_in_iteration(const GroupMemory& group, int self, std::uint64_t context,
                                      std::uint64_t iteration) {
  return missing(group, self, [&](int member) {
    const auto board = sync::read_board(sync::board_of(group.member(member), context), context);
    return board.joined || board.passed || board.iterations >= iteration;
  });
}

std::vector<int> missing_at_start(const shm::Segment& copy, int self) {
  std::vector<int> ranks;
  for (int rank = 0; rank < copy.world_size(); ++rank) {
    if (rank != self && !sync::has_attached(copy.rank_block(rank).life)) ranks.push_back(rank);
  }
  return ranks;
}

RankState state_of(shm::Doing doing) noexcept {
  switch (doing) {
    case shm::Doing::operation:
    case shm::Doing::iteration:
      return RankState::waiting;
    case shm::Doing::joined:
      return RankState::joined;
    case shm::Doing::in_step:
      return RankState::in_step;
    case shm::Doing::start:
      return RankState::starting;
    case shm::Doing::user_code:
      break;
  }
  return RankState::computing;
}

class RankViewer {
 public:
  RankViewer(const shm::Segment& copy, const std::vector<GroupMemory>& groups, int rank,
             std::int64_t now_ns)
      : copy_(copy), groups_(groups), block_(copy.rank_block(rank)), now_ns_(now_ns) {
    view_.rank = rank;
  }

  RankView run() {
    view_.pid = sync::pid_of(block_.life);
    const sync::Vitality vitality = sync::vitality(copy_, view_.rank);
    if (vitality == sync::Vitality::absent) return view_;
    note_last_call();
    if (vitality == sync::Vitality::alive) {
      note_activity();
    } else {
      view_.state = RankState::ended;
      view_.end = end_text(vitality);
    }
    return view_;
  }

 private:
  std::string end_text(sync::Vitality vitality) const {
    if (vitality == sync::Vitality::left) return "left the job";
    if (vitality == sync::Vitality::raised) return "left the job because of an exception";
    return sync::end_of(block_.life).text;
  }

  // In the group in which it has made the most calls: numbers of different groups can't be
  // compared.
  void note_last_call() {
    for (const GroupMemory& group : groups_) {
      const int member = member_of(group, view_.rank);
      if (member < 0) continue;
      note_context(group, member);
      const std::uint64_t number = distributed::last_posted(group.member(member));
      if (number == 0 || (view_.last && view_.last->number >= number)) continue;
      view_.last = call_of(group, member, number);
      view_.last_under_way = sync::completed_number(group.member(member)) < number;
    }
  }

  void note_context(const GroupMemory& group, int member) {
    const std::uint64_t context = current_context(group);
    if (context == 0) return;
    const auto board = sync::read_board(sync::board_of(group.member(member), context), context);
    if (!board.entered) return;
    view_.iterations = board.iterations;
    view_.joined = board.joined;
  }

  void note_activity() {
    const sync::ActivityReading reading = sync::read_activity(block_.activity);
    view_.process = sync::activity_of(block_.life);
    view_.state = state_of(reading.waiting.doing);
    view_.duration =
        std::chrono::nanoseconds(std::max<std::int64_t>(0, now_ns_ - reading.since_ns));
    note_wait(reading.waiting);
    if (view_.process.starts_with("stopped")) view_.state = RankState::stopped;
  }

  void note_wait(const sync::Waiting& waiting) {
    if (waiting.doing == shm::Doing::start) {
      view_.waits_for = missing_at_start(copy_, view_.rank);
      return;
    }
    const GroupMemory* group = find(groups_, waiting.slot);
    const int member = group == nullptr ? -1 : member_of(*group, view_.rank);
    if (member < 0) return;
    if (waiting.doing == shm::Doing::operation) {
      view_.waits_in = call_of(*group, member, waiting.number);
      view_.waits_for = missing_in_operation(*group, member, waiting.number);
    } else if (waiting.doing == shm::Doing::iteration) {
      view_.waits_for_iteration = waiting.number;
      view_.waits_for =
          missing_in_iteration(*group, member, current_context(*group), waiting.number);
    } else if (waiting.doing == shm::Doing::joined || waiting.doing == shm::Doing::in_step) {
      view_.waits_for = missing_joined(*group, member);
    }
  }

  static std::vector<int> missing_joined(const GroupMemory& group, int self) {
    const std::uint64_t context = current_context(group);
    return missing(group, self, [&](int member) {
      return sync::read_board(sync::board_of(group.member(member), context), context).joined;
    });
  }

  const shm::Segment& copy_;
  const std::vector<GroupMemory>& groups_;
  shm::RankBlock& block_;
  std::int64_t now_ns_;
  RankView view_;
};

}  // namespace

const char* name(RankState state) noexcept {
  constexpr const char* kNames[] = {"not started", "computing", "waiting", "starting",
                                    "joined",      "in step",   "stopped", "ended"};
  return kNames[static_cast<std::size_t>(state)];
}

JobView view_of(const std::shared_ptr<shm::Segment>& copy, std::int64_t now_ns) {
  const std::vector<GroupMemory> groups = groups_of(copy);
  JobView view;
  for (int rank = 0; rank < copy->world_size(); ++rank) {
    view.ranks.push_back(RankViewer(*copy, groups, rank, now_ns).run());
  }
  for (const GroupMemory& group : groups) {
    if (sync::has_failed(group.header())) {
      view.failures.push_back(distributed::read_failure(group).text);
    }
  }
  return view;
}

}  // namespace tensorplay::inspect
