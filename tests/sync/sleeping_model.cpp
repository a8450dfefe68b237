#include "tests/sync/sleeping_model.h"

namespace tensorplay::sync {

SleepingModel::SleepingModel(const SleepingPlan& plan)
    : plan_(plan),
      ranks_(plan.actions.size()),
      memory_(rank_count(), 3 * rank_count() + 2, plan.buffering) {}

std::string SleepingModel::machine_name(int machine) const {
  if (machine < rank_count()) return "rank" + std::to_string(machine);
  if (is_fault(machine)) return "signal" + std::to_string(machine - first_signal());
  return "drain" + std::to_string(machine - rank_count());
}

bool SleepingModel::done() const {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (ranks_[rank].action < plan_.actions[rank].size()) return false;
  }
  return true;
}

const Action& SleepingModel::action_of(int rank) const {
  const auto index = static_cast<std::size_t>(rank);
  return plan_.actions[index][ranks_[index].action];
}

std::string SleepingModel::step(int machine) {
  if (is_fault(machine)) {
    signal(ranks_[static_cast<std::size_t>(machine - first_signal())]);
    return "";
  }
  if (machine >= rank_count()) {
    memory_.drain(machine - rank_count());
    return "";
  }
  Rank& rank = ranks_[static_cast<std::size_t>(machine)];
  if (rank.action == plan_.actions[static_cast<std::size_t>(machine)].size()) return "";
  const Action& action = action_of(machine);
  if (rank.at == At::begin) begin(rank, action);
  if (action.kind == Action::Kind::wait) {
    step_sleeper(machine, rank, action);
  } else {
    step_publisher(machine, rank, action);
  }
  return "";
}

void SleepingModel::signal(Rank& rank) {
  if (signals_ == 0 || rank.at != At::asleep) return;
  --signals_;
  rank.at = At::end_sleeping_for;
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
  if (ranks_[rank].at == At::asleep) ranks_[rank].at = At::end_sleeping_for;
}

// A turn of the loop in Waiter::wait(): poll, Sleep's constructor, poll, sleep(), its destructor.
void SleepingModel::step_sleeper(int self, Rank& rank, const Action& action) {
  const auto look = [&] {
    return memory_.load(self, published_by(action.awaited)) >= action.number;
  };
  switch (rank.at) {
    case At::first_look:
      if (look()) return end(rank);
      rank.at = At::s1_rings;
      return;
    case At::s1_rings:
      rank.rings = memory_.load(self, rings_of(self));
      rank.at = At::s1_sleeping_for;
      return;
    case At::s1_sleeping_for:
      memory_.store(self, sleeping_for_of(self), action.sleeping_for);
      rank.at = At::s1_count;
      return;
    case At::s1_count:
      if (makes(SleepingMistake::count_kept_low) || memory_.add(self, count_of(action), 1)) {
        rank.at = makes(SleepingMistake::no_sleeper_fence) ? At::s3_look : At::s2_fence;
      }
      return;
    case At::s2_fence:
      if (!memory_.is_drained(self)) return;
      rank.at = makes(SleepingMistake::no_second_look) ? At::s4_futex_wait : At::s3_look;
      return;
    case At::s3_look:
      rank.seen = look();
      rank.at = rank.seen != 0 ? At::end_sleeping_for : At::s4_futex_wait;
      return;
    case At::s4_futex_wait: {
      // The kernel compares and puts to sleep in one step, as seen from who wakes.
      if (!memory_.is_drained(self)) return;
      const bool sleeps = makes(SleepingMistake::rings_not_compared) ||
                          memory_.shared(rings_of(self)) == rank.rings;
      rank.at = sleeps ? At::asleep : At::end_sleeping_for;
      return;
    }
    case At::end_sleeping_for:
      memory_.store(self, sleeping_for_of(self), 0);
      rank.at = At::end_count;
      return;
    case At::end_count:
      if (!makes(SleepingMistake::count_kept_low) &&
          !memory_.add(self, count_of(action), ~std::uint64_t{0})) {
        return;
      }
      rank.seen != 0 ? end(rank) : begin(rank, action);
      return;
    default:
      return;
  }
}

std::string SleepingModel::save() const {
  std::string text;
  for (const Rank& rank : ranks_) {
    append_word(text, rank.action);
    append_word(text, static_cast<std::uint64_t>(rank.at));
    for (const auto word : {rank.published, rank.rung, rank.rings, rank.seen}) {
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
    for (auto* word : {&rank.published, &rank.rung, &rank.rings, &rank.seen}) {
      *word = take_word(saved, at);
    }
  }
  signals_ = take_word(saved, at);
  memory_.restore(saved, at);
}

}  // namespace tensorplay::sync
