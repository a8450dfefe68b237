#include "tests/fuzz/rival.h"

#include "lib/sync/arrival.h"
#include "lib/sync/failure.h"
#include "lib/sync/join_board.h"
#include "lib/sync/progress.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

namespace tensorplay::fuzz {
namespace {

// The operation that the member has posted last.
std::uint64_t last_number(const shm::MemberBlock& member) {
  std::uint64_t last = 0;
  for (const shm::ArrivalLine& line : member.arrivals) {
    last = std::max(last, sync::posted_number(line));
  }
  return last;
}

template <class T>
std::span<std::byte> bytes_of(T& object) {
  return {reinterpret_cast<std::byte*>(&object), sizeof(object)};
}

void copy(std::span<std::byte> to, std::span<std::byte> from) {
  std::memcpy(to.data(), from.data(), std::min(to.size(), from.size()));
}

void change(std::span<std::byte> bytes, InputBytes& input) {
  for (std::size_t changes = input.below(4); changes > 0; --changes) {
    const std::size_t where = input.below(bytes.size());
    bytes[where] = static_cast<std::byte>(input.take<std::uint8_t>());
  }
}

}  // namespace

void Rival::answer(InputBytes& input) const {
  const std::uint64_t last = last_number(other());
  const std::uint64_t number = last + 1 - input.below(4);
  shm::ArrivalLine& line = sync::arrival_line(own(), number);
  copy(bytes_of(line), bytes_of(sync::arrival_line(other(), std::min(number, last))));
  sync::publish_arrival(line, number);
  change(bytes_of(line), input);
  bound_counts();
}

void Rival::progress(InputBytes& input) const {
  shm::Progress& words = own().progress;
  const std::uint64_t number = last_number(other()) - input.below(2);
  for (std::atomic<std::uint64_t>* word : {&words.staged, &words.reduced, &words.consumed}) {
    sync::publish_progress(*word, sync::progress_value(number, input.below(8)));
  }
}

void Rival::show_board(InputBytes& input) const {
  const std::size_t index = input.below(2);
  shm::JoinBoard& board = own().boards[index];
  copy(bytes_of(board), bytes_of(other().boards[index]));
  change(bytes_of(board), input);
}

void Rival::join(InputBytes& input) const {
  shm::JoinBoard& board = own().boards[input.below(2)];
  board.final_operation = last_number(other()) + input.below(4);
  sync::publish_joined(board, 1 + input.below(3));
}

void Rival::be_absent(InputBytes& input) const {
  sync::publish_absence(own(), last_number(other()) + input.below(4) - 1);
}

void Rival::fail(InputBytes& input) const {
  sync::publish_failure(segment_->group_header(0), static_cast<int>(input.below(4)));
}

std::span<std::byte> Rival::region(std::size_t index) const {
  shm::RankBlock& rank = segment_->rank_block(1);
  shm::SegmentHeader& header = segment_->header();
  constexpr std::size_t kConstant = offsetof(shm::SegmentHeader, sleeper_count);
  const std::array regions{
      bytes_of(own().arrivals),
      bytes_of(own()).subspan(offsetof(shm::MemberBlock, absent_from)),
      bytes_of(own().boards),
      bytes_of(own().failure),
      bytes_of(rank.doorbell),
      bytes_of(rank.activity),
      bytes_of(rank.life).first(offsetof(shm::Life, mutex)),
      bytes_of(rank.life.end_records),
      bytes_of(header).subspan(kConstant),
      bytes_of(segment_->group_header(0)),
  };
  return regions[index % regions.size()];
}

void Rival::scribble(InputBytes& input) const {
  const std::span<std::byte> bytes = region(input.take<std::uint8_t>());
  const std::size_t where = input.below(bytes.size() - sizeof(std::uint64_t) + 1);
  const auto value = input.take<std::uint64_t>();
  std::memcpy(bytes.data() + where, &value, sizeof(value));
  bound_counts();
}

void Rival::bound_counts() const {
  constexpr std::uint64_t kCountMax = std::uint64_t{1} << 21;
  for (shm::ArrivalLine& line : own().arrivals) line.count = std::min(line.count, kCountMax);
}

}  // namespace tensorplay::fuzz
