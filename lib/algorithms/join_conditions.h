// What a rank waits for in a join context.
#pragma once

#include "lib/algorithms/join_board.h"
#include "lib/sync/waiter.h"

#include <chrono>
#include <cstdint>
#include <string>

namespace tensorplay::distributed::algorithms {

// Common to all: operations of other groups advance meanwhile; the dead are noticed; the deadline
// counts from the last sign of progress, since a slow rank that goes on is no reason to give up.
class BoardCondition : public sync::Condition {
 public:
  explicit BoardCondition(const JoinBoard& board);

  bool poll() final;
  void check(std::chrono::steady_clock::time_point now) override;
  std::chrono::nanoseconds slice() const override;
  std::uint32_t sleeping_for() const override { return shm::kAnyRank; }

 protected:
  const JoinBoard& board() const noexcept { return board_; }
  virtual bool holds() = 0;
  // Whether it can't come true before the member has done something.
  virtual bool awaits(int member) const = 0;
  // "at the end of the Join context", for reports.
  virtual std::string description() const = 0;
  // waiting_for() of a condition of this context.
  sync::Waiting waiting(shm::Doing doing) const;

 private:
  const JoinBoard& board_;
  std::uint64_t signs_;
  std::chrono::steady_clock::time_point since_;
};

// Every other member has joined or announced `iteration`. For contexts whose announcements ring.
class IterationReached final : public BoardCondition {
 public:
  IterationReached(const JoinBoard& board, std::uint64_t iteration)
      : BoardCondition(board), iteration_(iteration) {}

 private:
  bool holds() override;
  bool awaits(int member) const override;
  std::string description() const override;
  sync::Waiting waiting_for() const override;

  std::uint64_t iteration_;
  int next_ = 0;  // members before this one are known to have got there
};

// Every other member has joined.
class AllJoined final : public BoardCondition {
 public:
  AllJoined(const JoinBoard& board, std::int64_t skew_warning_threshold)
      : BoardCondition(board), skew_warning_threshold_(skew_warning_threshold) {}
  void check(std::chrono::steady_clock::time_point now) override;
  std::uint32_t sleeping_for() const override;
  // Once, on stderr, if the others are too far ahead.
  void warn_of_skew();

 private:
  bool holds() override;
  bool awaits(int member) const override;
  std::string description() const override;
  sync::Waiting waiting_for() const override { return waiting(shm::Doing::joined); }

  std::int64_t skew_warning_threshold_;
  bool warned_ = false;
  int next_ = 0;  // members before this one are known to have joined
};

}  // namespace tensorplay::distributed::algorithms
