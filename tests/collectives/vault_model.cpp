#include "tests/collectives/vault_model.h"

#include "lib/sync/arrival.h"
#include "lib/sync/progress.h"

#include <algorithm>
#include <array>
#include <bit>

namespace tensorplay::collectives {
namespace {

// What a rank passes at a place of its block.
std::uint64_t value_of(std::uint64_t rank, std::uint64_t number, std::uint64_t word) {
  return number << 16 | rank << 8 | word;
}

std::uint64_t done_with(std::uint64_t number) {
  return sync::progress_value(number, 1);
}

}  // namespace

VaultModel::VaultModel(const VaultPlan& plan)
    : plan_(plan),
      segment_(shm::Segment::create_anonymous({.world_size = plan.rank_count})),
      ranks_(static_cast<std::size_t>(plan.rank_count)) {}

std::string VaultModel::machine_name(int machine) const {
  if (!is_fault(machine)) return "rank" + std::to_string(machine);
  return "kill" +
         std::to_string(plan_.mortals[static_cast<std::size_t>(machine - plan_.rank_count)]);
}

bool VaultModel::done() const {
  return std::ranges::all_of(ranks_, [this](const Rank& rank) { return out_of_it(rank); });
}

// Where nothing of an operation that goes by the post slots can be in the way.
std::uint64_t& VaultModel::vault(std::uint64_t rank, std::uint64_t word) const {
  return reinterpret_cast<std::uint64_t*>(member(rank).posts[0].data())[word];
}

std::uint64_t& VaultModel::result(std::uint64_t rank) const {
  return reinterpret_cast<std::uint64_t*>(member(rank).posts[1].data())[0];
}

std::string VaultModel::wrong(std::uint64_t self, const std::string& what) const {
  return "rank " + std::to_string(self) + ", operation " + std::to_string(ranks_[self].number) +
         ": " + what;
}

// Which word of the block the worker reduces.
std::uint64_t VaultModel::slice_of(const Rank& rank, std::uint64_t worker) const {
  return static_cast<std::uint64_t>(
      std::popcount(rank.workers & ((std::uint64_t{1} << worker) - 1)));
}

// In an order that makes a difference, so that equal results have the same bits.
std::uint64_t VaultModel::reduced(const Rank& rank, std::uint64_t word) const {
  std::uint64_t total = 0;
  for (std::uint64_t source = 0; source < size(); ++source) {
    const bool contributes = (rank.contributors >> source & 1) != 0;
    if (contributes) total = total * 31 + value_of(source, rank.number, word);
  }
  return total;
}

std::string VaultModel::step(int machine) {
  if (is_fault(machine)) {
    const int mortal = plan_.mortals[static_cast<std::size_t>(machine - plan_.rank_count)];
    Rank& rank = ranks_[static_cast<std::size_t>(mortal)];
    if (!out_of_it(rank)) rank.dead = 1;
    return "";
  }
  const auto self = static_cast<std::uint64_t>(machine);
  Rank& rank = ranks_[self];
  return out_of_it(rank) ? "" : step_rank(self, rank);
}

std::string VaultModel::step_rank(std::uint64_t self, Rank& rank) {
  switch (rank.at) {
    case At::await_readers:
    case At::look_at_readers_life:
      return await_readers(self, rank);
    case At::copy:
    case At::post:
      return fill(self, rank);
    case At::look_for_arrival:
    case At::look_at_life:
    case At::look_again:
      return gather_arrivals(self, rank);
    case At::read_own_slice:
    case At::write_result:
    case At::publish_reduced:
      return reduce(self, rank);
    default:
      return collect(self, rank);
  }
}

// --- The vault ---

std::string VaultModel::await_readers(std::uint64_t self, Rank& rank) {
  if (rank.at == At::look_at_readers_life) {
    const bool dead = ranks_[rank.peer].dead != 0;
    rank.at = At::await_readers;
    if (dead && !makes(VaultMistake::dead_readers_awaited)) next_reader(rank);
    return "";
  }
  if (rank.peer == self || rank.number == 1 || makes(VaultMistake::vault_reused_at_once) ||
      sync::observe_progress(member(rank.peer).progress.consumed, done_with(rank.number - 1))) {
    next_reader(rank);
  } else {
    rank.at = At::look_at_readers_life;
  }
  return "";
}

void VaultModel::next_reader(Rank& rank) {
  if (++rank.peer < size()) return;
  rank.peer = 0;
  rank.at = makes(VaultMistake::arrival_before_copy) ? At::post : At::copy;
}

std::string VaultModel::fill(std::uint64_t self, Rank& rank) {
  if (rank.at == At::post) {
    sync::publish_arrival(sync::arrival_line(member(self), rank.number), rank.number);
    rank.at = makes(VaultMistake::arrival_before_copy) ? At::copy : At::look_for_arrival;
    return "";
  }
  vault(self, rank.source) = value_of(self, rank.number, rank.source);
  if (++rank.source < size()) return "";
  rank.source = 0;
  rank.at = makes(VaultMistake::arrival_before_copy) ? At::look_for_arrival : At::post;
  return "";
}

// --- Who contributes ---

std::string VaultModel::gather_arrivals(std::uint64_t self, Rank& rank) {
  if (rank.at == At::look_at_life) {
    const bool dead = ranks_[rank.peer].dead != 0;
    rank.at = dead ? At::look_again : At::look_for_arrival;
    if (dead && makes(VaultMistake::no_second_look)) next_arrival(rank, false);
    return "";
  }
  const auto& line = sync::arrival_line(member(rank.peer), rank.number);
  switch (sync::observe_arrival(line, rank.number)) {
    case sync::Arrival::arrived:
      next_arrival(rank, true);
      return "";
    case sync::Arrival::missing:
      if (rank.at == At::look_again) {
        next_arrival(rank, false);
      } else {
        rank.at = At::look_at_life;
      }
      return "";
    case sync::Arrival::overrun:
      return wrong(self, "a peer has overrun it");
  }
  return "";
}

void VaultModel::next_arrival(Rank& rank, bool contributes) {
  const std::uint64_t bit = std::uint64_t{1} << rank.peer;
  if (contributes) rank.contributors |= bit;
  const bool left_out = makes(VaultMistake::slices_of_the_living) && ranks_[rank.peer].dead != 0;
  if (contributes && !left_out) rank.workers |= bit;
  rank.at = At::look_for_arrival;
  if (++rank.peer < size()) return;
  rank.peer = 0;
  rank.at = At::read_own_slice;
  if (makes(VaultMistake::consumed_before_reading)) rank.at = At::publish_consumed;
}

// --- Reducing and collecting ---

// One word of one vault; `after` follows the last of them.
std::string VaultModel::read_slice(Rank& rank, std::uint64_t word, At after) {
  const bool contributes = (rank.contributors >> rank.source & 1) != 0;
  const bool right =
      !contributes || vault(rank.source, word) == value_of(rank.source, rank.number, word);
  if (++rank.source == size()) {
    rank.source = 0;
    rank.at = after;
  }
  return right ? "" : "a vault was read before it was filled, or filled before it was read";
}

std::string VaultModel::reduce(std::uint64_t self, Rank& rank) {
  const std::uint64_t word = slice_of(rank, self);
  const bool early = makes(VaultMistake::reduced_before_result);
  switch (rank.at) {
    case At::read_own_slice: {
      const At after = early ? At::publish_reduced : At::write_result;
      const std::string finding = read_slice(rank, word, after);
      return finding.empty() ? "" : wrong(self, finding);
    }
    case At::write_result:
      result(self) = reduced(rank, word);
      rank.at = early ? At::look_for_reduced : At::publish_reduced;
      return "";
    default:
      sync::publish_progress(member(self).progress.reduced, done_with(rank.number));
      rank.at = early ? At::write_result : At::look_for_reduced;
      return "";
  }
}

std::string VaultModel::collect(std::uint64_t self, Rank& rank) {
  const bool works = (rank.workers >> rank.peer & 1) != 0;
  switch (rank.at) {
    case At::look_for_reduced:
    case At::look_for_reduced_again:
      if (!works) {
        next_worker(self, rank);
      } else if (sync::observe_progress(member(rank.peer).progress.reduced,
                                        done_with(rank.number))) {
        rank.at = At::read_result;
      } else if (rank.at == At::look_for_reduced) {
        rank.at = At::look_at_workers_life;
      } else {
        rank.at = At::read_slice_of_the_dead;
      }
      return "";
    case At::look_at_workers_life:
      rank.at = At::look_for_reduced;
      if (ranks_[rank.peer].dead == 0 || makes(VaultMistake::dead_workers_awaited)) return "";
      rank.at =
          makes(VaultMistake::result_without_a_look) ? At::read_result : At::look_for_reduced_again;
      return "";
    case At::read_result: {
      const bool right = result(rank.peer) == reduced(rank, slice_of(rank, rank.peer));
      next_worker(self, rank);
      return right ? "" : wrong(self, "the result is wrong");
    }
    case At::read_slice_of_the_dead: {
      const std::string finding = read_slice(rank, slice_of(rank, rank.peer), rank.at);
      if (rank.source == 0) next_worker(self, rank);
      return finding.empty() ? "" : wrong(self, finding);
    }
    default:
      sync::publish_progress(member(self).progress.consumed, done_with(rank.number));
      if (!makes(VaultMistake::consumed_before_reading)) return end(self, rank);
      rank.at = At::read_own_slice;
      return "";
  }
}

void VaultModel::next_worker(std::uint64_t self, Rank& rank) {
  rank.at = At::look_for_reduced;
  if (++rank.peer < size()) return;
  rank.at = At::publish_consumed;
  // In the order that is wrong it has been told before.
  if (makes(VaultMistake::consumed_before_reading)) end(self, rank);
}

// Of those who died, the ranks that had arrived contribute, on whichever survivor.
std::string VaultModel::end(std::uint64_t self, Rank& rank) {
  std::string finding;
  for (std::uint64_t peer = 0; peer < size(); ++peer) {
    const auto& line = sync::arrival_line(member(peer), rank.number);
    const bool expected = ranks_[peer].dead == 0 || sync::posted_number(line) == rank.number;
    const bool found = (rank.contributors >> peer & 1) != 0;
    if (found != expected) {
      finding = wrong(self, "the contributors are wrong: rank " + std::to_string(peer) +
                                (expected ? " is missing" : " isn't one"));
    }
  }
  Rank next;
  next.number = rank.number + 1;
  rank = next;
  return finding;
}

// --- States ---

std::string VaultModel::save() const {
  std::string text;
  for (std::uint64_t self = 0; self < size(); ++self) {
    for (const std::uint64_t word :
         std::bit_cast<std::array<std::uint64_t, kRankWords>>(ranks_[self])) {
      sync::append_word(text, word);
    }
    const shm::MemberBlock& block = member(self);
    // Relaxed, here and below: one thread makes all steps.
    sync::append_word(text, block.progress.reduced.load(std::memory_order_relaxed));
    sync::append_word(text, block.progress.consumed.load(std::memory_order_relaxed));
    for (std::uint64_t number = 1; number <= plan_.operations; ++number) {
      sync::append_word(text, sync::posted_number(sync::arrival_line(member(self), number)));
    }
    for (std::uint64_t word = 0; word < size(); ++word) {
      sync::append_word(text, vault(self, word));
    }
    sync::append_word(text, result(self));
  }
  return text;
}

void VaultModel::restore(const std::string& saved) {
  std::size_t at = 0;
  for (std::uint64_t self = 0; self < size(); ++self) {
    std::array<std::uint64_t, kRankWords> words;
    for (std::uint64_t& word : words) word = sync::take_word(saved, at);
    ranks_[self] = std::bit_cast<Rank>(words);
    shm::MemberBlock& block = member(self);
    // Relaxed: see save().
    block.progress.reduced.store(sync::take_word(saved, at), std::memory_order_relaxed);
    block.progress.consumed.store(sync::take_word(saved, at), std::memory_order_relaxed);
    for (std::uint64_t number = 1; number <= plan_.operations; ++number) {
      auto& line = sync::arrival_line(block, number);
      // Relaxed: see save().
      line.number.store(sync::take_word(saved, at), std::memory_order_relaxed);
    }
    for (std::uint64_t word = 0; word < size(); ++word)
      vault(self, word) = sync::take_word(saved, at);
    result(self) = sync::take_word(saved, at);
  }
}

}  // namespace tensorplay::collectives
