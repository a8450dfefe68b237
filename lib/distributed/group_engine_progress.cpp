// Letting operations advance: seeing arrivals, comparing them, and moving the data.
#include "lib/base/fault_point.h"
#include "lib/collectives/small.h"
#include "lib/distributed/group_engine.h"
#include "lib/distributed/posted_call.h"
#include "lib/distributed/report.h"
#include "lib/distributed/whereabouts.h"
#include "lib/sync/activity.h"
#include "lib/sync/arrival.h"
#include "lib/sync/liveness.h"

#include <tensorplay/error.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <new>

namespace tensorplay::distributed {

void GroupEngine::progress() {
  if (operations_.empty() || frozen_) return;
  // In a group that has failed, what all ranks had arrived at can still end: once, before the
  // caller is told. Afterwards the buffers may be gone.
  frozen_ = failed();
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    if (operations_[i]->stage == Stage::queued) break;
    if (operations_[i]->stage != Stage::done) advance(*operations_[i]);
  }
  while (!operations_.empty() && operations_.front()->stage == Stage::done) {
    sync::publish_completed(memory_.own(), operations_.front()->number);
    operations_.pop_front();
    if (!frozen_) post_queued();
  }
}

bool GroupEngine::uses(std::span<const std::byte> memory) const noexcept {
  const std::less<> before;
  const auto overlaps = [&](const void* begin, std::size_t bytes) {
    const auto* first = static_cast<const std::byte*>(begin);
    return first != nullptr && before(first, memory.data() + memory.size()) &&
           before(memory.data(), first + bytes);
  };
  return std::ranges::any_of(operations_, [&](const auto& operation) {
    return operation->stage != Stage::done &&
           (overlaps(operation->call.source, operation->shape.source_bytes()) ||
            overlaps(operation->call.destination, operation->shape.destination_bytes()));
  });
}

void GroupEngine::advance(Operation& operation) {
  if (operation.refused) return;
  try {
    if (operation.stage == Stage::posted && see_arrivals(operation)) {
      operation.stage = Stage::exchanging;
      fault_point("operation.agreed");
      operation.error = absent_root(operation);
      if (operation.error) return finish(operation);
    }
    if (operation.stage != Stage::exchanging) return;
    if (!may_move(operation)) return;
    if (!operation.run) begin_exchange(operation);
    if (operation.run && operation.run->advance() && may_move(operation)) finish(operation);
  } catch (const CollectiveMismatch& error) {
    operation.refused = true;
    fail({shm::FailureKind::mismatch, -1, PeerFailure::Cause::exited, error.what()});
  } catch (const SegmentError& error) {
    operation.refused = true;
    fail({shm::FailureKind::damage, -1, PeerFailure::Cause::exited, error.what()});
  } catch (const std::bad_alloc&) {
    operation.refused = true;
    fail(out_of_memory_in(operation));
  }
}

// The others have arrived, and would wait for what this rank has no memory to do.
Failure GroupEngine::out_of_memory_in(const Operation& operation) const {
  return {shm::FailureKind::peer_failure, rank(), PeerFailure::Cause::raised,
          process_label(memory_, rank()) + " ran out of memory in " + describe(operation.call) +
              ", operation " + std::to_string(operation.number),
          sync::pid_of(memory_.life(rank()))};
}

// Who has been told of the group's failure may have changed what a large operation reads: asked
// before it reads, and once more before the result counts.
bool GroupEngine::may_move(const Operation& operation) const noexcept {
  return operation.algorithm != collectives::Algorithm::large || !failed();
}

bool GroupEngine::see_arrivals(Operation& operation) {
  for (; operation.next_peer < size(); ++operation.next_peer) {
    if (!see_member(operation, operation.next_peer)) return false;
  }
  return true;
}

// Whether it's known if the member takes part in the operation.
bool GroupEngine::see_member(Operation& operation, int member) {
  if (membership_.is_absent(member, operation.number)) return true;
  const shm::MemberBlock& block = memory_.member(member);
  const shm::ArrivalLine& line = sync::arrival_line(memory_.member(member), operation.number);
  switch (sync::observe_arrival(line, operation.number)) {
    case sync::Arrival::arrived:
      accept(operation, member, line);
      return true;
    case sync::Arrival::overrun:
      throw SegmentError(rank_label(memory_, member) + " is ahead of operation " +
                         std::to_string(operation.number) +
                         " by more than is possible: the segment is damaged");
    case sync::Arrival::missing:
      break;
  }
  if (!sync::observe_absence(block, operation.number, membership_.context_begin)) return false;
  if (!membership_.inside) {
    throw CollectiveMismatch(rank_label(memory_, member) + " has joined a Join context, but " +
                             rank_label(memory_, rank()) + " calls " + describe(operation.call) +
                             " (operation " + std::to_string(operation.number) +
                             ") outside of an enabled one; enter the same contexts on all ranks");
  }
  membership_.absent_from[static_cast<std::size_t>(member)] = sync::absent_from(block);
  return true;
}

void GroupEngine::accept(Operation& operation, int member, const shm::ArrivalLine& line) {
  if (!agrees(operation, line)) {
    throw CollectiveMismatch(describe_mismatch(memory_, membership_, operation.number));
  }
  operation.participants.insert(member);
  if ((line.flags & shm::kShadow) == 0) operation.active.insert(member);
}

namespace {

bool names_same_result(const Operation& operation, const shm::ArrivalLine& line) noexcept {
  const bool has_place = operation.shape.has_shared_result() && operation.shape.count != 0;
  return !has_place || sync::named_place(line, shm::kResultPlace) == operation.place;
}

}  // namespace

bool GroupEngine::agrees(const Operation& operation, const shm::ArrivalLine& line) const noexcept {
  const CollectiveCall& call = operation.call;
  return line.kind == call.kind && line.dtype == call.dtype && line.op == call.op &&
         line.count == call.count && line.root == call.root && line.context == operation.context &&
         names_same_result(operation, line);
}

Contributors GroupEngine::sources_of(const Operation& operation) const {
  if (!operation.shape.root_supplies()) return operation.active;
  Contributors root;
  root.insert(operation.call.root);
  return root;
}

// An error if the operation's root takes no part, or as a shadow that can't supply the values.
std::exception_ptr GroupEngine::absent_root(const Operation& operation) const {
  if (!operation.shape.has_root()) return nullptr;
  const int root = operation.call.root;
  bool present = operation.participants.contains(root);
  if (present && operation.shape.root_supplies() && !operation.active.contains(root)) {
    const auto& line = sync::arrival_line(memory_.member(root), operation.number);
    present = (line.flags & shm::kSupplies) != 0;
  }
  if (present) return nullptr;
  if (membership_.lost.contains(root)) {
    const Failure failure = lost_root(
        memory_, root, describe(operation.call) + ", operation " + std::to_string(operation.number),
        operation.active);
    return std::make_exception_ptr(
        PeerFailure(root, failure.cause, failure.text, failure.pid, failure.status));
  }
  return std::make_exception_ptr(InvalidArgument(
      describe(operation.call) + ", operation " + std::to_string(operation.number) +
      ": the root, rank " + std::to_string(root) +
      ", has joined; still active: " + to_string(operation.active) +
      ". Choose a root that is active, or shadow the call in the main_hook of its Joinable, in the "
      "order of the active ranks"));
}

collectives::Exchange GroupEngine::exchange_of(const Operation& operation) const {
  collectives::Exchange exchange;
  exchange.memory = &memory_;
  exchange.number = operation.number;
  exchange.shape = operation.shape;
  exchange.kernel = operation.kernel;
  exchange.source = static_cast<const std::byte*>(operation.call.source);
  exchange.destination = static_cast<std::byte*>(operation.call.destination);
  exchange.contributors = operation.active;
  exchange.participants = operation.participants;
  exchange.sources = sources_of(operation);
  exchange.staged_ahead = operation.staged_ahead;
  exchange.lost = survives_ ? &membership_.lost : nullptr;
  return exchange;
}

void GroupEngine::begin_exchange(Operation& operation) {
  const bool large = operation.algorithm == collectives::Algorithm::large;
  if (large && !is_oldest_large(operation)) return;
  const collectives::Exchange exchange = exchange_of(operation);
  // A shared result is other ranks' memory, also where they take no part.
  const bool alone =
      operation.participants.count() == 1 && (survives_ || !operation.shape.has_shared_result());
  if (large && !alone) {
    operation.run = collectives::make_large_run(exchange, staging_lease_);
    return;
  }
  fault_point("operation.before_delivered");
  large ? collectives::deliver_alone(exchange) : collectives::deliver_small(exchange);
  fault_point("operation.delivered");
  finish(operation);
}

bool GroupEngine::is_oldest_large(const Operation& operation) const noexcept {
  for (const auto& other : operations_) {
    if (other->number == operation.number) return true;
    if (other->algorithm == collectives::Algorithm::large && other->stage != Stage::done) {
      return false;
    }
  }
  return true;
}

void GroupEngine::finish(Operation& operation) noexcept {
  if (operation.vault != nullptr) {
    Contributors readers = operation.run ? operation.participants : Contributors{};
    readers.erase(rank());
    Vaults::give_back(*operation.vault, operation.number, readers);
  }
  operation.run.reset();
  operation.stage = Stage::done;
}

}  // namespace tensorplay::distributed
