#include "tests/sync/stepped_job.h"

#include "lib/sync/arrival.h"
#include "lib/sync/join_board.h"

#include <algorithm>

namespace tensorplay::sync {
SteppedJob::SteppedJob(const JobPlan& plan)
    : plan_(plan), segment_(shm::Segment::create_anonymous({.world_size = plan.rank_count})) {
  chronicle_.dead.resize(static_cast<std::size_t>(plan_.rank_count));
  chronicle_.begins.resize(plan_.iterations.size() + 1);
  const std::uint64_t end = plan_.first_number(plan_.iterations.size());
  for (int rank = 0; rank < plan_.rank_count; ++rank) {
    ranks_.emplace_back(plan_, *segment_, rank, chronicle_, ranks_);
    shm::MemberBlock& member = segment_->member_block(0, rank);
    for (std::uint64_t number = 1; number < std::min(end, 1 + shm::kOperationSlots); ++number) {
      shm::ArrivalLine& line = arrival_line(member, number);
      atomics_.push_back(&line.number);
      plain_words_.push_back(reinterpret_cast<std::uint64_t*>(line.payload.data()));
      plain_words_.push_back(reinterpret_cast<std::uint64_t*>(post_slot(member, number)));
    }
    atomics_.push_back(&member.absent_from);
    for (shm::JoinBoard& board : member.boards) {
      atomics_.push_back(&board.announced);
      atomics_.push_back(&board.joined);
      plain_words_.push_back(&board.final_operation);
      plain_words_.push_back(reinterpret_cast<std::uint64_t*>(board.config.data()));
    }
  }
}

int SteppedJob::machine_count() const {
  return 2 * plan_.rank_count + static_cast<int>(plan_.mortals.size());
}

std::string SteppedJob::machine_name(int machine) const {
  if (is_fault(machine)) return "kill" + std::to_string(mortal(machine));
  return (machine % 2 == 0 ? "call" : "complete") + std::to_string(machine / 2);
}

std::string SteppedJob::step(int machine) {
  const bool kills = is_fault(machine);
  const auto rank = static_cast<std::size_t>(kills ? mortal(machine) : machine / 2);
  if (out_of_it(rank)) return "";
  if (kills) {
    chronicle_.dead[rank] = 1;
    return "";
  }
  return machine % 2 == 0 ? ranks_[rank].step_caller() : ranks_[rank].step_completion();
}

bool SteppedJob::done() const {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!out_of_it(rank)) return false;
  }
  return true;
}

std::string SteppedJob::save() const {
  std::string text;
  for (const SteppedRank& rank : ranks_) {
    for (const std::uint64_t word : rank.state()) append_word(text, word);
  }
  for (const std::uint64_t word : chronicle_.dead) append_word(text, word);
  for (const std::uint64_t word : chronicle_.begins) append_word(text, word);
  // Relaxed, here and below: one thread makes all steps.
  for (const auto* word : atomics_) append_word(text, word->load(std::memory_order_relaxed));
  for (const auto* word : plain_words_) append_word(text, *word);
  return text;
}

void SteppedJob::restore(const std::string& saved) {
  std::size_t at = 0;
  for (SteppedRank& rank : ranks_) {
    auto words = rank.state();
    for (std::uint64_t& word : words) word = take_word(saved, at);
    rank.set_state(words);
  }
  for (std::uint64_t& word : chronicle_.dead) word = take_word(saved, at);
  for (std::uint64_t& word : chronicle_.begins) word = take_word(saved, at);
  // Relaxed: see save().
  for (auto* word : atomics_) word->store(take_word(saved, at), std::memory_order_relaxed);
  for (auto* word : plain_words_) *word = take_word(saved, at);
}

}  // namespace tensorplay::sync
