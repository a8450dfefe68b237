// The words of the join board: who has announced which iteration, who has joined.
#pragma once

#include "lib/shm/layout.h"

#include <cstdint>

namespace tensorplay::sync {

// What a board tells about one context.
struct JoinBoardReading {
  bool entered = false;  // the member has entered the context
  bool passed = false;   // the member is in a later context already
  bool joined = false;
  std::uint64_t iterations = 0;  // announced
};

inline shm::JoinBoard& board_of(shm::MemberBlock& member, std::uint64_t generation) noexcept {
  return member.boards[generation % 2];
}

// Owner only: generation << kIterationBits | iterations. The first, with 0 iterations, enters.
inline void publish_iteration(shm::JoinBoard& board, std::uint64_t generation,
                              std::uint64_t iterations) noexcept {
  // SYNC iteration. Release: pairs with read_board(). The board's config was written before the
  // first of these, and the operations of the earlier iterations were posted before this one.
  board.announced.store(generation << shm::kIterationBits | iterations, std::memory_order_release);
}

// Owner only; final_operation and joined_at_ns are filled in.
inline void publish_joined(shm::JoinBoard& board, std::uint64_t generation) noexcept {
  // SYNC joined. Release: pairs with read_board(); the two fields are visible with it, and this
  // rank's part in all earlier operations is over.
  board.joined.store(generation, std::memory_order_release);
}

// The last context in which the member joined, of those that use this board.
inline std::uint64_t joined_generation(const shm::JoinBoard& board) noexcept {
  // SYNC joined. Acquire: pairs with publish_joined().
  return board.joined.load(std::memory_order_acquire);
}

inline JoinBoardReading read_board(const shm::JoinBoard& board, std::uint64_t generation) noexcept {
  constexpr std::uint64_t kIterationMask = (std::uint64_t{1} << shm::kIterationBits) - 1;
  JoinBoardReading reading;
  // SYNC joined. Acquire: pairs with publish_joined(). Read before `announced`, so that a member
  // seen as joined is seen with all the iterations it announced.
  const std::uint64_t joined = board.joined.load(std::memory_order_acquire);
  // SYNC iteration. Acquire: pairs with publish_iteration().
  const std::uint64_t announced = board.announced.load(std::memory_order_acquire);
  // The word has room for 24 bits of the generation; members are at most two contexts apart.
  constexpr std::uint64_t kGenerationMask = ~std::uint64_t{0} >> shm::kIterationBits;
  const std::uint64_t ahead = ((announced >> shm::kIterationBits) - generation) & kGenerationMask;
  reading.entered = ahead == 0;
  reading.passed = ahead != 0 && ahead <= kGenerationMask / 2;
  reading.joined = reading.entered && joined == generation;
  reading.iterations = reading.entered ? announced & kIterationMask : 0;
  return reading;
}

}  // namespace tensorplay::sync
