// Waiting: deadlines, the dead, and the group's failure.
#include "lib/base/fault_point.h"
#include "lib/collectives/vaulted_run.h"
#include "lib/distributed/group_engine.h"
#include "lib/distributed/join_deadlock.h"
#include "lib/distributed/posted_call.h"
#include "lib/distributed/report.h"
#include "lib/distributed/whereabouts.h"
#include "lib/sync/arrival.h"
#include "lib/sync/doorbell.h"
#include "lib/sync/liveness.h"

#include <tensorplay/error.h>

#include <algorithm>

namespace tensorplay::distributed {

using Clock = std::chrono::steady_clock;

// Waiting for one operation.
class OperationCondition final : public sync::Condition {
 public:
  OperationCondition(GroupEngine& engine, Operation& operation,
                     std::optional<std::chrono::nanoseconds> timeout)
      : engine_(engine), operation_(operation), since_(Clock::now()), timeout_(timeout) {}

  bool poll() override {
    engine_.job_->progress();
    return operation_.stage == Stage::done;
  }
  void check(Clock::time_point now) override {
    // All may have arrived at this operation before the group failed: then its own result counts.
    if (engine_.failed() && poll()) return;
    AwaitedEvent event{
        "in " + describe(operation_.call) + ", operation " + std::to_string(operation_.number),
        operation_.number, since_, engine_.job_->timeout()};
    event.call_timeout = timeout_;
    engine_.check_awaited([this](int member) { return engine_.awaits(operation_, member); }, event,
                          now);
  }
  std::chrono::nanoseconds slice() const override {
    const std::chrono::nanoseconds group = engine_.job_->timeout();
    return sync::slice_until(since_ + std::min(timeout_.value_or(group), group));
  }
  std::uint32_t sleeping_for() const override { return engine_.sleeping_for(operation_); }
  sync::Waiting waiting_for() const override {
    return {shm::Doing::operation, engine_.memory_.slot(), operation_.call.kind,
            operation_.call.purpose, operation_.number};
  }

 private:
  GroupEngine& engine_;
  Operation& operation_;
  Clock::time_point since_;
  std::optional<std::chrono::nanoseconds> timeout_;
};

// Waiting for memory that outlives this rank, until others have read what lies there.
class VaultCondition final : public sync::Condition {
 public:
  VaultCondition(GroupEngine& engine, const Operation& operation)
      : engine_(engine),
        operation_(operation),
        bytes_(collectives::vault_bytes(operation.shape)),
        since_(Clock::now()) {}

  bool poll() override {
    engine_.job_->progress();
    vault_ = engine_.vaults_.take(bytes_);
    return vault_ != nullptr;
  }
  void check(Clock::time_point now) override {
    engine_.check_awaited(
        [this](int member) {
          const auto& issued = engine_.operations_;
          return engine_.vaults_.awaits(member) ||
                 (!issued.empty() && engine_.awaits(*issued.front(), member));
        },
        {"for memory to post " + describe(operation_.call), 0, since_, engine_.job_->timeout()},
        now);
  }
  std::chrono::nanoseconds slice() const override {
    return sync::slice_until(since_ + engine_.job_->timeout());
  }
  std::uint32_t sleeping_for() const override { return shm::kAnyRank; }
  sync::Waiting waiting_for() const override {
    return {shm::Doing::operation, engine_.memory_.slot(), operation_.call.kind,
            operation_.call.purpose, engine_.next_number_};
  }
  Vault* vault() const noexcept { return vault_; }

 private:
  GroupEngine& engine_;
  const Operation& operation_;
  std::size_t bytes_;
  Clock::time_point since_;
  Vault* vault_ = nullptr;
};

Vault* GroupEngine::take_vault(const Operation& operation) {
  VaultCondition condition(*this, operation);
  wait_for(condition);
  return condition.vault();
}

void GroupEngine::wait(Operation& operation, std::optional<std::chrono::nanoseconds> timeout) {
  const UseGuard guard(*job_);
  wait_unguarded(operation, timeout);
}

void GroupEngine::wait_unguarded(Operation& operation,
                                 std::optional<std::chrono::nanoseconds> timeout) {
  job_->progress();
  if (operation.stage == Stage::done) return;
  throw_if_failed();
  OperationCondition condition(*this, operation, timeout);
  wait_for(condition);
}

void GroupEngine::wait_for(sync::Condition& condition) {
  job_->wait(condition, size() - membership_.absent_count());
}

bool GroupEngine::poll(Operation& operation) {
  const UseGuard guard(*job_);
  job_->progress();
  if (operation.stage != Stage::done) {
    OperationCondition condition(*this, operation, std::nullopt);
    look_now_and_then(condition);
  }
  return operation.stage == Stage::done || failed() || !left_behind_.empty();
}

void GroupEngine::look_now_and_then(sync::Condition& condition) {
  constexpr std::chrono::milliseconds kInterval{10};
  const Clock::time_point now = Clock::now();
  if (failed() || now < next_look_) return;
  next_look_ = now + kInterval;
  asking_ = true;
  try {
    condition.check(now);
  } catch (const Error&) {
    // It's in the group's record, which every wait() reads.
  }
  asking_ = false;
}

void GroupEngine::drain() {
  while (!operations_.empty()) {
    const std::shared_ptr<Operation> oldest = operations_.front();
    wait_unguarded(*oldest);
  }
}

void GroupEngine::throw_what_it_failed_by() {
  if (!left_behind_.empty()) {
    throw PeerFailure(rank(), PeerFailure::Cause::raised,
                      rank_label(memory_, rank()) + " has left this group, and the others go on " +
                          "without it: " + left_behind_);
  }
  progress();
  frozen_ = true;
  throw_failure(read_failure(memory_));
}

void GroupEngine::fail(const Failure& failure) noexcept {
  // What goes wrong in a forked child is none of the group's business; nor is what goes wrong in
  // exit handlers: the others know that this rank has ended.
  if (job_->is_silent()) return;
  record_failure(memory_, failure);
  sync::ring_all(memory_.segment());
}

void GroupEngine::check_awaited(const std::function<bool(int)>& awaits, const AwaitedEvent& event,
                                Clock::time_point now) {
  throw_if_failed();
  Contributors awaited;
  for (int member = 0; member < size(); ++member) {
    if (member != rank() && awaits(member)) awaited.insert(member);
  }
  bool lost = false;
  awaited.for_each([&](int member) {
    // What a member published before it went counts: so look for its end first, then once more.
    if (!is_gone(member) || !awaits(member)) return;
    lost = survives_;
    survives_ ? lose(member) : fail(peer_failure(memory_, membership_, member, event));
  });
  if (lost) return;  // and look again, without it
  // Who asks now and then, or waits for a while only, goes on by itself.
  if (!asking_ && !event.call_timeout) check_deadlock(awaited, event.where);
  const auto waited = now - event.since;
  if (!failed() && waited > event.timeout) {
    fail(timeout_failure(memory_, membership_, awaited, event, waited));
  }
  throw_if_failed();
  if (!event.call_timeout || waited < *event.call_timeout) return;
  AwaitedEvent call = event;
  call.limit = "the timeout of this call. The operation goes on";
  throw Timeout(timeout_failure(memory_, membership_, awaited, call, waited).text);
}

// Fails if one of those who are awaited waits for this rank itself.
void GroupEngine::check_deadlock(const Contributors& awaited, const std::string& where) {
  awaited.for_each([&](int member) {
    const auto text = failed() ? std::nullopt : describe_join_deadlock(*this, member);
    if (!text) return;
    Failure failure;
    failure.kind = shm::FailureKind::mismatch;
    failure.text = "deadlock: " + *text + ": it waits for " + rank_label(memory_, member) + " " +
                   where +
                   ". Make such calls before the first of these ranks joins, or after the "
                   "context, or on the context's own group";
    fail(failure);
  });
}

// Whether the member will publish nothing any more in this group.
bool GroupEngine::is_gone(int member) const {
  if (sync::observe_departure(memory_.member(member)) != shm::Departure::none) return true;
  // Who left the job while a split went on has no engine of the new group that could say so there.
  const sync::Vitality vitality = sync::vitality(memory_.segment(), memory_.world_rank(member));
  return vitality != sync::Vitality::alive && vitality != sync::Vitality::absent;
}

// The member has posted what it has posted: nobody else writes those words, and it doesn't any more
// itself, since its process has ended or has fallen silent before it said that it exits. So all
// survivors read the same, whenever they look. What it didn't post, it takes no part in.
void GroupEngine::lose(int member) {
  fault_point("group.before_lost");
  membership_.lose(member, last_posted(memory_.member(member)) + 1);
  if (sync::has_ended(sync::vitality(memory_.segment(), memory_.world_rank(member)))) {
    sync::clear_doorbell(memory_.segment(), memory_.world_rank(member));
  }
  sync::ring_all(memory_.segment());
}

void GroupEngine::leave_behind(const std::string& reason) {
  if (job_->is_silent() || !left_behind_.empty()) return;
  left_behind_ = reason;
  frozen_ = true;  // what is queued must not be posted any more: the others have counted
  sync::publish_departure_text(memory_.own(), reason);
  fault_point("group.before_left_behind");
  sync::publish_departure(memory_.own(), shm::Departure::raised);
  fault_point("group.left_behind");
  sync::ring_all(memory_.segment());
}

// Whether the operation can't go on before the member has done something.
bool GroupEngine::awaits(const Operation& operation, int member) const {
  if (operation.run) return operation.run->awaits(member);
  if (operation.stage == Stage::queued) return awaits(*operations_.front(), member);
  if (operation.stage != Stage::posted || member < operation.next_peer) {
    return operation.stage == Stage::exchanging && awaits_earlier_large(operation, member);
  }
  if (membership_.is_absent(member, operation.number)) return false;
  const auto& line = sync::arrival_line(memory_.member(member), operation.number);
  return sync::observe_arrival(line, operation.number) == sync::Arrival::missing &&
         !sync::observe_absence(memory_.member(member), operation.number,
                                membership_.context_begin);
}

// A large operation that waits for its turn awaits whom the one before it awaits.
bool GroupEngine::awaits_earlier_large(const Operation& operation, int member) const {
  for (const auto& other : operations_) {
    if (other->number == operation.number) return false;
    const bool large = other->algorithm == collectives::Algorithm::large;
    if (large && other->stage != Stage::done) return awaits(*other, member);
  }
  return false;
}

// Whose ring ends a sleep: one rank's, if nothing else can make a difference.
std::uint32_t GroupEngine::sleeping_for(const Operation& operation) const {
  const bool one_awaited = operation.stage == Stage::posted && operations_.size() == 1 &&
                           operation.next_peer < size() && !job_->others_busy(*this);
  if (!one_awaited) return shm::kAnyRank;
  return static_cast<std::uint32_t>(memory_.world_rank(operation.next_peer)) + 1;
}

}  // namespace tensorplay::distributed
