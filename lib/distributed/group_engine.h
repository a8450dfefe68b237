// The engine of a group on this rank: issues operations, lets them advance, finds out who takes
// part.
//
// An operation's life: start() checks and queues it; as soon as fewer than kOperationsInFlight are
// under way it is posted, by publishing this rank's arrival line. progress() sees the others'
// arrivals, compares descriptors, and delivers (small operations) or runs the exchange (large ones,
// one at a time, in order). Nothing here blocks but wait().
//
// Used by one thread at a time: the callers hold a UseGuard.
#pragma once

#include "lib/collectives/group_memory.h"
#include "lib/distributed/failure.h"
#include "lib/distributed/job.h"
#include "lib/distributed/membership.h"
#include "lib/distributed/operation.h"
#include "lib/distributed/report.h"
#include "lib/distributed/shared_results.h"
#include "lib/distributed/vaults.h"
#include "lib/sync/failure.h"
#include "lib/sync/join_board.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tensorplay::distributed {

// Takes the calls of a hook that shadows, instead of the group: see follower.h.
class ShadowCalls {
 public:
  virtual ~ShadowCalls() = default;
  virtual std::shared_ptr<WorkState> shadow(const CollectiveCall& call) = 0;
};

class GroupEngine : public std::enable_shared_from_this<GroupEngine> {
 public:
  // `slot`, and the job ranks of the members, are agreed by all; the group's memory is zero or
  // prepared by the leader of the split.
  GroupEngine(std::shared_ptr<Job> job, int slot, int self, std::vector<int> world_ranks);
  ~GroupEngine();

  // By which find_engine() finds it as long as it lives.
  std::uint64_t directory_number() const noexcept { return directory_number_; }

  int rank() const noexcept { return memory_.self(); }
  int size() const noexcept { return memory_.size(); }
  Job& job() noexcept { return *job_; }
  const std::shared_ptr<Job>& shared_job() const noexcept { return job_; }
  const collectives::GroupMemory& memory() const noexcept { return memory_; }

  // Checks the call and issues it. Throws InvalidArgument, or what the group failed by.
  std::shared_ptr<WorkState> start(const CollectiveCall& call);
  // The same, and waits for the end: the shortest way for one call after the other.
  Contributors run(const CollectiveCall& call);
  // As start(), for a joined rank in step; `supplies`: source is what the root broadcasts or
  // scatters.
  std::shared_ptr<Operation> start_shadow(const CollectiveCall& call, bool supplies);

  // Blocks until the operation is done, or throws Timeout after `timeout`, if there is one. Throws
  // what the group failed by. Takes the UseGuard itself.
  void wait(Operation& operation, std::optional<std::chrono::nanoseconds> timeout);
  // Lets everything advance once; whether wait() would return at once. Takes the UseGuard itself.
  bool poll(Operation& operation);
  // For callers that hold the UseGuard: wait(), waiting for something else, and for everything that
  // was issued.
  void wait_unguarded(Operation& operation,
                      std::optional<std::chrono::nanoseconds> timeout = std::nullopt);
  void wait_for(sync::Condition& condition);
  void drain();
  // For callers that ask again and again instead of waiting: now and then, looks whether somebody
  // who is awaited has gone. Throws nothing; the group's failure tells. Such a caller has no
  // deadline, since it may be busy between two questions.
  void look_now_and_then(sync::Condition& condition);

  // Lets this group's operations advance. Never throws: what can't be done is told by the operation
  // or by the group's failure.
  void progress();
  bool busy() const noexcept { return !operations_.empty(); }
  // Gives back memory that is kept for later operations, unless it's reserved; whether there was
  // any.
  bool discard_free_vaults() noexcept { return vaults_.discard_free(); }
  // This rank's vaults, for those who reserve some and hold the UseGuard.
  Vaults& vaults() noexcept { return vaults_; }
  // What allocate_shared() has given, for who holds the UseGuard.
  SharedResults& shared_results() noexcept { return shared_results_; }
  const SharedResults& shared_results() const noexcept { return shared_results_; }
  // Whether an operation that isn't done yet reads or writes there.
  bool uses(std::span<const std::byte> memory) const noexcept;

  bool failed() const noexcept { return sync::has_failed(memory_.header()); }
  void throw_if_failed() {
    if (!left_behind_.empty() || failed()) [[unlikely]]
      throw_what_it_failed_by();
  }
  // Makes the group fail, for all of its ranks, unless it has failed already.
  void fail(const Failure& failure) noexcept;
  // A member that is awaited and gone makes the group fail, or is lost, if the group survives that;
  // past the deadline the group fails. Throws if it has failed; and Timeout, with the group whole,
  // if only the time of this call is over.
  void check_awaited(const std::function<bool(int)>& awaits, const AwaitedEvent& event,
                     std::chrono::steady_clock::time_point now);

  // Whether the group goes on when a member is gone.
  bool survives() const noexcept { return survives_; }
  // Leaves the group for good, telling why: the survivors go on without this rank, which can't use
  // the group any more.
  void leave_behind(const std::string& reason);

  // --- For the join context ---
  Membership& membership() noexcept { return membership_; }
  const Membership& membership() const noexcept { return membership_; }
  std::uint64_t next_number() const noexcept { return next_number_; }
  // Publishes `iterations` on the board once all operations issued before are posted.
  void announce(std::uint64_t iterations) {
    membership_.iteration = static_cast<std::uint32_t>(iterations);
    if (!operations_.empty() && operations_.back()->stage == Stage::queued) [[unlikely]] {
      announcements_.push_back({next_number_ - 1, iterations});
    } else {
      publish_iteration(iterations);
    }
  }
  // All members begin anew with operation `number`, with everybody present.
  void resume_at(std::uint64_t number) noexcept;
  // While set, start() passes its calls to `calls`; null to end.
  void redirect(ShadowCalls* calls) noexcept { redirected_ = calls; }

 private:
  struct Announcement {
    std::uint64_t after;  // may be published once this operation is posted
    std::uint64_t iterations;
  };

  [[noreturn]] void throw_what_it_failed_by();
  void check(const CollectiveCall& call) const;
  void begin(Operation& operation, const CollectiveCall& call, Role role) const;
  std::shared_ptr<Operation> make_operation(const CollectiveCall& call, Role role);
  std::shared_ptr<Operation> issue(std::shared_ptr<Operation> operation, bool supplies);
  void take_number(Operation& operation) noexcept;
  bool has_nothing_under_way() const noexcept;
  Operation& operation_at_hand();
  bool may_be_quick(const Operation& operation) const noexcept;
  bool run_at_once(Operation& operation);

  bool needs_vault(const Operation& operation) const noexcept;
  Vault* take_vault(const Operation& operation);
  void lose(int member);

  void post_queued();
  void post(Operation& operation);
  std::uint8_t place_payload(shm::ArrivalLine& line, Operation& operation);
  bool stage_ahead(const Operation& operation, const std::byte* source);
  unsigned place_in_vault(shm::ArrivalLine& line, const Operation& operation) const;
  void publish_iteration(std::uint64_t iterations) {
    sync::publish_iteration(sync::board_of(memory_.own(), membership_.generation),
                            membership_.generation, iterations);
  }
  void publish_announcements(std::uint64_t posted);

  void advance(Operation& operation);
  Failure out_of_memory_in(const Operation& operation) const;
  bool may_move(const Operation& operation) const noexcept;
  bool see_arrivals(Operation& operation);
  bool see_member(Operation& operation, int member);
  void accept(Operation& operation, int member, const shm::ArrivalLine& line);
  bool agrees(const Operation& operation, const shm::ArrivalLine& line) const noexcept;
  collectives::Exchange exchange_of(const Operation& operation) const;
  Contributors sources_of(const Operation& operation) const;
  std::exception_ptr absent_root(const Operation& operation) const;
  void begin_exchange(Operation& operation);
  bool is_oldest_large(const Operation& operation) const noexcept;
  void finish(Operation& operation) noexcept;

  void check_deadlock(const Contributors& awaited, const std::string& where);
  bool is_gone(int member) const;
  bool awaits(const Operation& operation, int member) const;
  bool awaits_earlier_large(const Operation& operation, int member) const;
  std::uint32_t sleeping_for(const Operation& operation) const;

  friend class OperationCondition;
  friend class VaultCondition;

  std::shared_ptr<Job> job_;
  collectives::GroupMemory memory_;
  Membership membership_;
  std::uint64_t next_number_ = 1;
  std::deque<std::shared_ptr<Operation>> operations_;  // issued and not done, in order
  // Kept from one blocking call to the next; in `operations_` while the call has to wait.
  std::shared_ptr<Operation> at_hand_;
  std::deque<Announcement> announcements_;  // not yet published, in order
  collectives::StagingLease staging_lease_;
  Vaults vaults_;
  SharedResults shared_results_;
  bool survives_;
  std::string left_behind_;  // why this rank has left the group, if it has
  ShadowCalls* redirected_ = nullptr;
  // The group has failed, or this rank has left it: no operation advances any more.
  bool frozen_ = false;
  std::chrono::steady_clock::time_point next_look_{};
  bool asking_ = false;  // in look_now_and_then(): whoever asks isn't stuck
  int exceptions_at_start_;
  std::uint64_t directory_number_;
};

}  // namespace tensorplay::distributed
