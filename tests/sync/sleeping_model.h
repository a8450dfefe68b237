// Ranks that sleep and wake each other by doorbells, on memory that delays stores.
//
// The steps are those of lib/sync/doorbell.cpp and of the loop in waiter.cpp, access by access and
// in their order, under the names that doorbell.h gives them: S1 to S4 and P1 to P4. The library's
// own functions can't run here, since real memory doesn't tell when a store is seen. Who changes
// doorbell.cpp changes this.
//
// Nobody's sleep has a limit here, so that a wake-up that is lost is a rank that waits for ever. In
// the library it would be one that sleeps on to the end of its slice.
#pragma once

#include "tests/sync/model.h"
#include "tests/sync/weak_memory.h"

#include "lib/shm/layout.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tensorplay::sync {

enum class SleepingMistake {
  none,
  no_sleeper_fence,    // S2 is left out
  no_publisher_fence,  // P2 is left out
  count_read_first,    // P3 before P1
  no_second_look,      // S3 is left out: the word is looked at only before S1
  rings_not_compared,  // S4 sleeps whatever `rings` is
  rings_not_counted,   // P4 wakes, and doesn't change `rings`
  count_kept_low,      // S1 doesn't count the sleeper
  // These are found only where a sleeper may die, and others take it out of the count.
  marked_before_counted,      // S1 the other way round
  uncounted_before_unmarked,  // the end of a sleep the other way round
};

// One of the things that a rank does.
struct Action {
  enum class Kind { publish, publish_to_all, wait } kind = Kind::publish;
  int awaited = 0;                 // wait: whose publications,
  std::uint64_t number = 0;        // how many of them,
  std::uint32_t sleeping_for = 0;  // and as what it sleeps: see shm::Doorbell
};
inline Action publish() {
  return {Action::Kind::publish};
}
inline Action publish_to_all() {
  return {Action::Kind::publish_to_all};
}
inline Action wait_for(int rank, std::uint64_t number) {
  return {Action::Kind::wait, rank, number, static_cast<std::uint32_t>(rank) + 1};
}
inline Action wait_for_any(int rank, std::uint64_t number) {
  return {Action::Kind::wait, rank, number, shm::kAnyRank};
}
inline Action wait_for_joined(int rank, std::uint64_t number) {
  return {Action::Kind::wait, rank, number, shm::kAllJoined};
}

struct SleepingPlan {
  std::vector<std::vector<Action>> actions;  // by rank
  Buffering buffering = Buffering::ordered;
  // Ranks that may die, at any moment. They publish nothing that others wait for.
  std::vector<int> mortals = {};
  SleepingMistake mistake = SleepingMistake::none;
};

// A machine per rank, then one per way in which a store can drain, then one per rank whose step is
// a signal that ends its sleep early (once, whosever), then one per mortal rank whose step is the
// death: seen by the others when all that the rank had stored has drained.
class SleepingModel final : public Model {
 public:
  explicit SleepingModel(const SleepingPlan& plan);

  int machine_count() const override {
    return first_kill() + static_cast<int>(plan_.mortals.size());
  }
  std::string machine_name(int machine) const override;
  bool is_fault(int machine) const override { return machine >= first_signal(); }
  std::string step(int machine) override;
  bool done() const override;
  std::string save() const override;
  void restore(const std::string& saved) override;

 private:
  enum class At : std::uint64_t {
    begin,
    p1_publish,
    p2_fence,
    p3_count,
    p3_doorbell,
    p4_rings,
    p4_wake,
    first_look,
    clear_mark,
    clear_count,
    s1_rings,
    s1_count,
    s1_sleeping_for,
    s2_fence,
    s3_look,
    s4_futex_wait,
    asleep,
    end_sleeping_for,
    end_count,
  };
  struct Rank {
    std::uint64_t action = 0;  // index
    At at = At::begin;
    std::uint64_t published = 0;
    std::uint64_t rung = 0;   // the rank whose doorbell is next
    std::uint64_t rings = 0;  // what Sleep keeps in rings_; or the mark that was taken off
    std::uint64_t seen = 0;   // whether S3 has seen what is awaited; P3, whether anybody sleeps
    std::uint64_t lost = 0;   // one bit per rank whose death it has acted on
    std::uint64_t dead = 0;   // 1 once it has died
  };

  int rank_count() const { return static_cast<int>(ranks_.size()); }
  int first_signal() const { return rank_count() + memory_.drain_count(); }
  int first_kill() const { return first_signal() + rank_count(); }
  int mortal(int machine) const {
    return plan_.mortals[static_cast<std::size_t>(machine - first_kill())];
  }
  bool out_of_it(std::size_t rank) const {
    return ranks_[rank].dead != 0 || ranks_[rank].action == plan_.actions[rank].size();
  }
  bool makes(SleepingMistake mistake) const { return plan_.mistake == mistake; }
  const Action& action_of(int rank) const;

  // Words.
  static int published_by(int rank) { return 3 * rank; }
  static int rings_of(int rank) { return 3 * rank + 1; }
  static int sleeping_for_of(int rank) { return 3 * rank + 2; }
  int sleeper_count() const { return 3 * rank_count(); }
  int count_of(std::uint64_t sleeping_for) const {
    return sleeper_count() + (sleeping_for == shm::kAllJoined ? 1 : 0);
  }

  // Where the end of a sleep begins.
  At first_at_end() const {
    return makes(SleepingMistake::uncounted_before_unmarked) ? At::end_count : At::end_sleeping_for;
  }

  void begin(Rank& rank, const Action& action);
  void end(Rank& rank);
  void fail(int machine);
  void step_publisher(int self, Rank& rank, const Action& action);
  void act_on_count(Rank& rank);
  void look_at_doorbell(int self, Rank& rank, const Action& action);
  void go_to_doorbell(Rank& rank, std::uint64_t next);
  void step_sleeper(int self, Rank& rank, const Action& action);
  void step_to_sleep(int self, Rank& rank, const Action& action);
  void step_out_of_sleep(int self, Rank& rank, const Action& action);
  void clear_doorbells(int self, Rank& rank);
  bool count(int self, const Action& action, std::uint64_t change);
  void wake(std::uint64_t rank);

  SleepingPlan plan_;
  std::vector<Rank> ranks_;
  WeakMemory memory_;
  std::uint64_t signals_ = 1;  // still to come
};

}  // namespace tensorplay::sync
