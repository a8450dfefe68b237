#include "tests/sync/sleeping_model.h"

#include <algorithm>

namespace tensorplay::sync {

SleepingModel::SleepingModel(const SleepingPlan& plan)
    : plan_(plan),
      ranks_(plan.actions.size()),
      memory_(rank_count(), 3 * rank_count() + 2, plan.buffering) {}

std::string SleepingModel::machine_name(int machine) const {
  if (machine < rank_count()) return "rank" + std::to_string(machine);
  if (machine >= first_kill()) return "kill" + std::to_string(mortal(machine));
  if (is_fault(machine)) return "signal" + std::to_string(machine - first_signal());
  return "drain" + std::to_string(machine - rank_count());
}

bool SleepingModel::done() const {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!out_of_it(rank)) return false;
  }
  return true;
}

const Action& SleepingModel::action_of(int rank) const {
  const auto index = static_cast<std::size_t>(rank);
  return plan_.actions[index][ranks_[index].action];
}

std::string SleepingModel::step(int machine) {
  if (is_fault(machine)) {
    fail(machine);
    return "";
  }
  if (machine >= rank_count()) {
    memory_.drain(machine - rank_count());
    return "";
  }
  Rank& rank = ranks_[static_cast<std::size_t>(machine)];
  if (out_of_it(static_cast<std::size_t>(machine))) return "";
  const Action& action = action_of(machine);
  if (rank.at == At::begin) begin(rank, action);
  if (action.kind == Action::Kind::wait) {
    step_sleeper(machine, rank, action);
  } else {
    step_publisher(machine, rank, action);
  }
  return "";
}

void SleepingModel::fail(int machine) {
  const bool kills = machine >= first_kill();
  const int who = kills ? mortal(machine) : machine - first_signal();
  if (out_of_it(static_cast<std::size_t>(who))) return;
  Rank& rank = ranks_[static_cast<std::size_t>(who)];
  if (kills) {
    rank.dead = memory_.is_drained(who);
  } else if (signals_ != 0 && rank.at == At::asleep) {
    --signals_;
    rank.at = first_at_end();
  }
}

void SleepingModel::begin(Rank& rank, const Action& action) {
  rank.rung = rank.rings = rank.seen = 0;
  if (action.kind == Action::Kind::wait) {
    rank.at = At::first_look;
  } else {
    rank.at = makes(SleepingMistake::count_read_first) ? At::p3_count : At::p1_publish;
  }
}

void SleepingModel::end(Rank& rank) {
  ++rank.action;
  rank.at = At::begin;
  rank.rung = rank.rings = rank.seen = 0;
}

// ring_for() and ring_all(), after a publication.
void SleepingModel::step_publisher(int self, Rank& rank, const Action& action) {
  switch (rank.at) {
    case At::p1_publish:
      memory_.store(self, published_by(self), ++rank.published);
      rank.at = makes(SleepingMistake::no_publisher_fence) ? At::p3_count : At::p2_fence;
      if (makes(SleepingMistake::count_read_first)) act_on_count(rank);
      return;
    case At::p2_fence:
      if (memory_.is_drained(self)) rank.at = At::p3_count;
      return;
    case At::p3_count:
      // ring_all() doesn't look at the count.
      rank.seen = action.kind == Action::Kind::publish ? memory_.load(self, sleeper_count()) : 1;
      if (!makes(SleepingMistake::count_read_first)) return act_on_count(rank);
      rank.at = At::p1_publish;
      return;
    case At::p3_doorbell:
      return look_at_doorbell(self, rank, action);
    case At::p4_rings:
      if (memory_.add(self, rings_of(static_cast<int>(rank.rung)), 1)) rank.at = At::p4_wake;
      return;
    case At::p4_wake:
      // The system call orders it behind the addition.
      if (!memory_.is_drained(self)) return;
      wake(rank.rung);
      return go_to_doorbell(rank, rank.rung + 1);
    default:
      return;
  }
}

void SleepingModel::act_on_count(Rank& rank) {
  rank.seen != 0 ? go_to_doorbell(rank, 0) : end(rank);
}

void SleepingModel::look_at_doorbell(int self, Rank& rank, const Action& action) {
  const std::uint64_t sleeping_for =
      memory_.load(self, sleeping_for_of(static_cast<int>(rank.rung)));
  const bool everybody = action.kind == Action::Kind::publish_to_all;
  const bool wanted = everybody || sleeping_for == static_cast<std::uint64_t>(self) + 1 ||
                      sleeping_for == shm::kAnyRank;
  if (sleeping_for == 0 || !wanted) return go_to_doorbell(rank, rank.rung + 1);
  rank.at = makes(SleepingMistake::rings_not_counted) ? At::p4_wake : At::p4_rings;
}

void SleepingModel::go_to_doorbell(Rank& rank, std::uint64_t next) {
  rank.rung = next;
  rank.at = At::p3_doorbell;
  if (next == ranks_.size()) end(rank);
}

void SleepingModel::wake(std::uint64_t rank) {
  if (ranks_[rank].at == At::asleep) ranks_[rank].at = first_at_end();
}

// A turn of the loop in Waiter::wait(): poll, check, Sleep's constructor, poll, sleep(), its
// destructor.
void SleepingModel::step_sleeper(int self, Rank& rank, const Action& action) {
  const auto look = [&] {
    return memory_.load(self, published_by(action.awaited)) >= action.number;
  };
  switch (rank.at) {
    case At::first_look:
      rank.at = At::s1_rings;
      return look() ? end(rank) : clear_doorbells(self, rank);
    case At::clear_mark:
    case At::clear_count:
      return clear_doorbells(self, rank);
    case At::s3_look:
      rank.seen = look();
      rank.at = rank.seen != 0 ? first_at_end() : At::s4_futex_wait;
      return;
    case At::end_sleeping_for:
    case At::end_count:
      return step_out_of_sleep(self, rank, action);
    default:
      return step_to_sleep(self, rank, action);
  }
}

// The next of the dead that this rank hasn't lost yet: clear_doorbell(), called by the check.
void SleepingModel::clear_doorbells(int self, Rank& rank) {
  const auto dead = std::ranges::find_if(plan_.mortals, [&](int mortal) {
    return ranks_[static_cast<std::size_t>(mortal)].dead != 0 && (rank.lost >> mortal & 1) == 0;
  });
  if (dead == plan_.mortals.end()) return;
  if (rank.at != At::clear_count) {
    rank.at = At::clear_mark;
    const auto mark = memory_.exchange(self, sleeping_for_of(*dead), 0);
    if (!mark) return;
    rank.rings = *mark;
    rank.at = At::clear_count;
    return;
  }
  const std::uint64_t mark = rank.rings;
  if (mark != 0 && !memory_.add(self, count_of(mark), ~std::uint64_t{0})) return;
  rank.lost |= std::uint64_t{1} << *dead;
  rank.at = At::first_look;
}

bool SleepingModel::count(int self, const Action& action, std::uint64_t change) {
  return makes(SleepingMistake::count_kept_low) ||
         memory_.add(self, count_of(action.sleeping_for), change);
}

void SleepingModel::step_to_sleep(int self, Rank& rank, const Action& action) {
  const bool marks_first = makes(SleepingMistake::marked_before_counted);
  const At after_s1 = makes(SleepingMistake::no_sleeper_fence) ? At::s3_look : At::s2_fence;
  switch (rank.at) {
    case At::s1_rings:
      rank.rings = memory_.load(self, rings_of(self));
      rank.at = marks_first ? At::s1_sleeping_for : At::s1_count;
      return;
    case At::s1_count:
      if (count(self, action, 1)) rank.at = marks_first ? after_s1 : At::s1_sleeping_for;
      return;
    case At::s1_sleeping_for:
      memory_.store(self, sleeping_for_of(self), action.sleeping_for);
      rank.at = marks_first ? At::s1_count : after_s1;
      return;
    case At::s2_fence:
      if (!memory_.is_drained(self)) return;
      rank.at = makes(SleepingMistake::no_second_look) ? At::s4_futex_wait : At::s3_look;
      return;
    case At::s4_futex_wait: {
      // The kernel compares and puts to sleep in one step, as seen from who wakes.
      if (!memory_.is_drained(self)) return;
      const bool sleeps = makes(SleepingMistake::rings_not_compared) ||
                          memory_.shared(rings_of(self)) == rank.rings;
      rank.at = sleeps ? At::asleep : first_at_end();
      return;
    }
    default:
      return;
  }
}

void SleepingModel::step_out_of_sleep(int self, Rank& rank, const Action& action) {
  if (rank.at == At::end_sleeping_for) {
    memory_.store(self, sleeping_for_of(self), 0);
  } else if (!count(self, action, ~std::uint64_t{0})) {
    return;
  }
  if (rank.at == first_at_end()) {
    rank.at = rank.at == At::end_count ? At::end_sleeping_for : At::end_count;
  } else {
    rank.seen != 0 ? end(rank) : begin(rank, action);
  }
}

std::string SleepingModel::save() const {
  std::string text;
  for (const Rank& rank : ranks_) {
    append_word(text, rank.action);
    append_word(text, static_cast<std::uint64_t>(rank.at));
    for (const auto word :
         {rank.published, rank.rung, rank.rings, rank.seen, rank.lost, rank.dead}) {
      append_word(text, word);
    }
  }
  append_word(text, signals_);
  memory_.save(text);
  return text;
}

void SleepingModel::restore(const std::string& saved) {
  std::size_t at = 0;
  for (Rank& rank : ranks_) {
    rank.action = take_word(saved, at);
    rank.at = static_cast<At>(take_word(saved, at));
    for (auto* word :
         {&rank.published, &rank.rung, &rank.rings, &rank.seen, &rank.lost, &rank.dead}) {
      *word = take_word(saved, at);
    }
  }
  signals_ = take_word(saved, at);
  memory_.restore(saved, at);
}

}  // namespace tensorplay::sync
