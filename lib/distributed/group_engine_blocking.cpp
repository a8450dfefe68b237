// Blocking calls. A small one, made while nothing else is under way, is posted and polled for right
// here, with an operation that is kept for the next call: nothing is allocated, queued or counted.
// One with a shared result takes the same way, as it needs no more than a second look at the
// others; only its run is allocated.
#include "lib/distributed/call_check.h"
#include "lib/distributed/group_engine.h"
#include "lib/sync/activity.h"

#include <memory>

namespace tensorplay::distributed {
namespace {

// Some line transfers, where everybody has a CPU. Who has to wait longer, or shares its CPU with
// those it waits for, does it as everybody else: see Waiter.
constexpr int kPolls = 50;

bool is_over(const Operation& operation) noexcept {
  return operation.stage == Stage::done || operation.refused;
}

}  // namespace

Contributors GroupEngine::run(const CollectiveCall& call) {
  throw_if_failed();
  check(call);
  if (redirected_ != nullptr) return redirected_->shadow(call)->wait({});
  if (has_nothing_under_way()) {
    Operation& operation = operation_at_hand();
    begin(operation, call, Role::active);
    if (may_be_quick(operation)) {
      if (!run_at_once(operation)) {
        operations_.push_back(at_hand_);
        wait_unguarded(operation);
      }
      return operation.result_of_done();
    }
  }
  const std::shared_ptr<Operation> operation = issue(make_operation(call, Role::active), false);
  wait_unguarded(*operation);
  return operation->result_of_done();
}

// Operations of other groups advance in the waits of this one: then it has to be a real one.
bool GroupEngine::has_nothing_under_way() const noexcept {
  return operations_.empty() && !job_->others_busy(*this);
}

// One that an exception has left among the operations isn't at hand any more.
Operation& GroupEngine::operation_at_hand() {
  if (at_hand_ == nullptr || at_hand_.use_count() > 1) {
    at_hand_ = std::make_shared<Operation>(weak_from_this());
  }
  return *at_hand_;
}

// Whether it's posted without waiting for memory, and has only steps that are short.
bool GroupEngine::may_be_quick(const Operation& operation) const noexcept {
  if (operation.algorithm != collectives::Algorithm::large) return true;
  const bool is_short = operation.shape.source_bytes() <= shm::kChunkBytes;
  return !survives_ && (is_short || operation.shape.has_shared_result());
}

// Whether the operation has ended within a few polls.
bool GroupEngine::run_at_once(Operation& operation) {
  take_number(operation);
  post(operation);
  advance(operation);
  const bool may_poll = job_->has_cpus_for(size() - membership_.absent_count());
  for (int poll = 1; may_poll && poll < kPolls && !is_over(operation); ++poll) advance(operation);
  if (operation.stage != Stage::done) return false;
  sync::publish_completed(memory_.own(), operation.number);
  return true;
}

}  // namespace tensorplay::distributed
