#include "tests/sync/stepped_job.h"

#include "lib/sync/arrival.h"
#include "lib/sync/join_board.h"

#include <algorithm>

namespace tensorplay::sync {
namespace {

// Seven bits per byte, low ones first: most words are small.
void append(std::string& text, std::uint64_t word) {
  for (; word >= 0x80; word >>= 7) text += static_cast<char>((word & 0x7f) | 0x80);
  text += static_cast<char>(word);
}

std::uint64_t take(const std::string& text, std::size_t& at) {
  std::uint64_t word = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(text[at++]);
    word |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return word;
  }
}

}  // namespace

SteppedJob::SteppedJob(const JobPlan& plan)
    : plan_(plan), segment_(shm::Segment::create_anonymous({.world_size = plan.rank_count})) {
  const std::uint64_t end = plan_.first_number(plan_.iterations.size());
  for (int rank = 0; rank < plan_.rank_count; ++rank) {
    ranks_.emplace_back(plan_, *segment_, rank);
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

std::string SteppedJob::step(int machine) {
  SteppedRank& rank = ranks_[static_cast<std::size_t>(machine / 2)];
  return machine % 2 == 0 ? rank.step_caller() : rank.step_completion();
}

bool SteppedJob::done() const {
  return std::ranges::all_of(ranks_, [](const SteppedRank& rank) { return rank.done(); });
}

std::string SteppedJob::save() const {
  std::string text;
  for (const SteppedRank& rank : ranks_) {
    for (const std::uint64_t word : rank.state()) append(text, word);
  }
  // Relaxed, here and below: one thread makes all steps.
  for (const auto* word : atomics_) append(text, word->load(std::memory_order_relaxed));
  for (const auto* word : plain_words_) append(text, *word);
  return text;
}

void SteppedJob::restore(const std::string& saved) {
  std::size_t at = 0;
  for (SteppedRank& rank : ranks_) {
    auto words = rank.state();
    for (std::uint64_t& word : words) word = take(saved, at);
    rank.set_state(words);
  }
  // Relaxed: see save().
  for (auto* word : atomics_) word->store(take(saved, at), std::memory_order_relaxed);
  for (auto* word : plain_words_) *word = take(saved, at);
}

}  // namespace tensorplay::sync
