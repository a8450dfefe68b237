#include "lib/distributed/group_engine.h"

#include "lib/base/fault_point.h"
#include "lib/collectives/small.h"
#include "lib/distributed/call_check.h"
#include "lib/distributed/engine_directory.h"
#include "lib/distributed/group_slots.h"
#include "lib/sync/activity.h"
#include "lib/sync/arrival.h"
#include "lib/sync/doorbell.h"
#include "lib/sync/join_board.h"

#include <tensorplay/error.h>

#include <algorithm>
#include <cstring>
#include <exception>

namespace tensorplay::distributed {

GroupEngine::GroupEngine(std::shared_ptr<Job> job, int slot, int self, std::vector<int> world_ranks)
    : job_(std::move(job)),
      memory_(job_->segment(), slot, self, std::move(world_ranks)),
      membership_(memory_.size()),
      vaults_(job_->arena(), memory_, membership_.lost),
      survives_(job_->segment()->header().on_peer_failure == PeerFailurePolicy::continue_without),
      exceptions_at_start_(std::uncaught_exceptions()),
      directory_number_(enter_engine(*this)) {
  job_->add(*this);
}

GroupEngine::~GroupEngine() {
  remove_engine(directory_number_);
  job_->remove(*this);
  if (job_->is_forked_copy()) return;
  const bool raised = std::uncaught_exceptions() > exceptions_at_start_;
  fault_point("group.before_departed");
  // The last words of a process that exits tell more, and are told already.
  if (left_behind_.empty() && !job_->is_silent()) {
    sync::publish_departure(memory_.own(), raised ? shm::Departure::raised : shm::Departure::left);
  }
  fault_point("group.departed");
  sync::ring_all(*job_->segment());
  leave_group_slot(*job_->segment(), memory_.slot(), rank());
  fault_point("group.slot_left");
}

// --- Issuing ---

std::shared_ptr<WorkState> GroupEngine::start(const CollectiveCall& call) {
  throw_if_failed();
  check(call);
  if (redirected_ != nullptr) return redirected_->shadow(call);
  return issue(make_operation(call, Role::active), false);
}

std::shared_ptr<Operation> GroupEngine::start_shadow(const CollectiveCall& call, bool supplies) {
  throw_if_failed();
  return issue(make_operation(call, Role::shadow), supplies);
}

void GroupEngine::check(const CollectiveCall& call) const {
  check_call(call, rank(), size());
  if (call.kind == CollectiveKind::all_reduce_shared) shared_results_.check(call, job_->arena());
}

void GroupEngine::begin(Operation& operation, const CollectiveCall& call, Role role) const {
  operation.begin(call, size(), role);
  if (!operation.shape.has_shared_result()) return;
  operation.place =
      shared_results_.place_of(call.destination, operation.shape.block_bytes).value_or(0);
}

std::shared_ptr<Operation> GroupEngine::make_operation(const CollectiveCall& call, Role role) {
  auto operation = std::make_shared<Operation>(weak_from_this());
  begin(*operation, call, role);
  return operation;
}

std::shared_ptr<Operation> GroupEngine::issue(std::shared_ptr<Operation> operation, bool supplies) {
  operation->supplies = supplies;
  if (needs_vault(*operation)) operation->vault = take_vault(*operation);
  take_number(*operation);
  operations_.push_back(operation);
  post_queued();
  return operation;
}

// Gives the operation its place in the group's order and in the context.
void GroupEngine::take_number(Operation& operation) noexcept {
  operation.context = membership_.fingerprint;
  operation.iteration = membership_.iteration;
  if (operation.call.tag == 0) operation.call.tag = membership_.tag;
  operation.number = next_number_++;
}

// Whether this rank supplies values that must outlive it.
bool GroupEngine::needs_vault(const Operation& operation) const noexcept {
  const bool supplies = operation.role == Role::active || operation.supplies;
  return survives_ && size() > 1 && supplies && operation.shape.is_source(rank()) &&
         operation.algorithm == collectives::Algorithm::large;
}

void GroupEngine::post_queued() {
  if (operations_.empty()) return;
  const std::uint64_t oldest = operations_.front()->number;
  for (const auto& operation : operations_) {
    if (operation->number >= oldest + shm::kOperationsInFlight) break;
    if (operation->stage == Stage::queued) post(*operation);
  }
}

void GroupEngine::post(Operation& operation) {
  shm::MemberBlock& own = memory_.own();
  shm::ArrivalLine& line = sync::arrival_line(own, operation.number);
  const CollectiveCall& call = operation.call;
  line.count = call.count;
  line.kind = call.kind;
  line.dtype = call.dtype;
  line.op = call.op;
  line.root = static_cast<std::uint8_t>(call.root);
  line.purpose = call.purpose;
  line.tag = call.tag;
  line.context = operation.context;
  line.iteration = operation.iteration;
  fault_point("arrival.before_payload");
  line.flags = place_payload(line, operation);
  fault_point("arrival.before_published");
  sync::publish_arrival(line, operation.number);
  fault_point("arrival.published");
  operation.stage = Stage::posted;
  publish_announcements(operation.number);
  if (size() == 1) return;
  sync::publish_call(job_->activity());
  memory_.ring();
}

// Puts the source where peers will look for it, and says where that is.
std::uint8_t GroupEngine::place_payload(shm::ArrivalLine& line, Operation& operation) {
  const bool shadow = operation.role == Role::shadow;
  unsigned flags = 0;
  if (shadow) flags |= shm::kShadow;
  if (operation.supplies) flags |= shm::kSupplies;
  if (!job_->has_cpus_for(size())) flags |= shm::kCrowded;
  const bool supplies = operation.shape.is_source(rank()) && (!shadow || operation.supplies);
  const auto* source = supplies ? static_cast<const std::byte*>(operation.call.source) : nullptr;
  if (operation.algorithm != collectives::Algorithm::large) {
    collectives::post_small(memory_.own(), operation.number, operation.shape, source);
    return static_cast<std::uint8_t>(flags);
  }
  const bool shared = operation.shape.has_shared_result();
  if (shared) sync::name_place(line, shm::kResultPlace, operation.place);
  if (survives_) return static_cast<std::uint8_t>(flags | place_in_vault(line, operation));
  const Arena& arena = job_->arena();
  const auto* destination = operation.call.destination;
  if (source != nullptr && arena.contains(source, operation.shape.source_bytes())) {
    flags |= shm::kSourceInArena;
    sync::name_place(line, 0, memory_.segment().offset_of(source));
  } else if (source != nullptr && !shared && stage_ahead(operation, source)) {
    operation.staged_ahead = true;
    flags |= shm::kStagedAhead;
  }
  if (!shared && arena.contains(destination, operation.shape.destination_bytes())) {
    flags |= shm::kDestinationInArena;
    sync::name_place(line, 1, memory_.segment().offset_of(destination));
  }
  return static_cast<std::uint8_t>(flags);
}

// Unless nobody is there to read it.
bool GroupEngine::stage_ahead(const Operation& operation, const std::byte* source) {
  if (membership_.absent_count() >= size() - 1 || !is_oldest_large(operation)) return false;
  if (!collectives::stage_ahead(memory_, staging_lease_, operation.number, operation.shape,
                                source)) {
    return false;
  }
  fault_point("staged.ahead");
  return true;
}

// A contribution that stays whatever becomes of this rank.
unsigned GroupEngine::place_in_vault(shm::ArrivalLine& line, const Operation& operation) const {
  if (operation.vault == nullptr) return 0;
  std::byte* vault = operation.vault->memory;
  std::memcpy(vault, operation.call.source, operation.shape.source_bytes());
  fault_point("vault.copied");
  sync::name_place(line, 0, memory_.segment().offset_of(vault));
  return shm::kVaulted;
}

void GroupEngine::publish_announcements(std::uint64_t posted) {
  while (!announcements_.empty() && announcements_.front().after <= posted) {
    publish_iteration(announcements_.front().iterations);
    announcements_.pop_front();
  }
}

void GroupEngine::resume_at(std::uint64_t number) noexcept {
  next_number_ = number;
  membership_.begin_anew(number);
}

}  // namespace tensorplay::distributed
