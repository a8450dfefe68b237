// A joined rank in step: takes part in every operation of the active ranks, as a shadow.
//
// The next operation is whatever an active rank posts under the next number. It is followed with
// the buffer of the hook's call that it matches, or with a buffer of the follower's own, whose
// content is kept until the end of the iteration, should a later call of a hook match it: so the
// order of the hooks' calls doesn't matter; a result that lies once is there in any case, as the
// latest operation on it has left it, and a call whose result is that of another call by now is
// refused. A call that is still unmatched when the active ranks
// begin their next iteration was not made this time.
#pragma once

#include "lib/algorithms/join_board.h"
#include "lib/distributed/group_engine.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace tensorplay::distributed::algorithms {

// Runs main hooks, by the mark of their calls: 1 + the place in the list.
class HookRunner {
 public:
  virtual ~HookRunner() = default;
  // Runs that hook, unless it has run in this iteration; whether it did.
  virtual bool run(std::uint16_t tag) = 0;
};

class Follower final : public ShadowCalls {
 public:
  // `board` has joined, in step. `hooks` outlives the follower.
  Follower(const JoinBoard& board, HookRunner& hooks)
      : board_(board), engine_(board.engine()), hooks_(hooks), iteration_(board.iterations()) {}

  // Follows until the active ranks begin another iteration (true), or all have joined (false).
  // Takes the UseGuard itself.
  bool await_iteration();
  // The hook with this mark makes the next calls. Gives who did before.
  std::uint16_t set_caller(std::uint16_t tag) noexcept { return std::exchange(caller_, tag); }

  // A call of a hook. The caller holds the UseGuard.
  std::shared_ptr<WorkState> shadow(const CollectiveCall& call) override;

 private:
  friend class Followable;

  // What the active ranks do next.
  enum class Next { nothing_yet, operation, iteration, end };
  struct Seen {
    Next next = Next::nothing_yet;
    int leader = -1;  // who posted the operation
  };
  // An operation that was followed before a hook asked for it.
  struct Kept {
    CollectiveCall call;
    std::vector<std::byte> destination;
    Contributors contributors;
    bool is_overwritten = false;  // its result lies once, and another call's has taken its place
  };

  Seen look() const;
  bool is_ahead(int member, std::uint32_t iteration) const;
  void look_for_failures();
  Seen wait_for_next();
  CollectiveCall posted_by(int leader) const;
  std::byte* result_of(const CollectiveCall& call, const shm::ArrivalLine& line, int leader) const;
  std::shared_ptr<Operation> follow(const CollectiveCall& call, bool supplies);
  void overwrite(const CollectiveCall& call) noexcept;
  void follow_unasked(const CollectiveCall& posted);
  bool must_supply(const CollectiveCall& call) const noexcept;
  std::shared_ptr<WorkState> take_kept(const CollectiveCall& call);
  bool matches(const CollectiveCall& call, const CollectiveCall& posted) const noexcept;

  const JoinBoard& board_;
  GroupEngine& engine_;
  HookRunner& hooks_;
  std::uint64_t iteration_;    // that this rank is in, or shadows
  bool has_shadowed_ = false;  // an iteration, with its hooks
  std::uint16_t caller_ = 0;
  std::vector<Kept> kept_;  // of this iteration
};

}  // namespace tensorplay::distributed::algorithms
