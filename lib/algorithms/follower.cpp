#include "lib/algorithms/follower.h"

#include "lib/algorithms/join_conditions.h"
#include "lib/distributed/call_check.h"
#include "lib/distributed/posted_call.h"
#include "lib/sync/arrival.h"

#include <tensorplay/error.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>

namespace tensorplay::distributed::algorithms {
namespace {

constexpr std::uint64_t kIterationsPerLook = 64;

// The Work of a shadow call that has its result, or that was not made this time.
class ShadowResult final : public WorkState {
 public:
  explicit ShadowResult(const Contributors& contributors) : contributors_(contributors) {}
  Contributors wait(std::optional<std::chrono::nanoseconds>) override { return contributors_; }
  bool is_completed() override { return true; }
  Contributors contributors() const override { return contributors_; }
  std::int64_t result() override { return contributors_.count(); }

 private:
  Contributors contributors_;
};

}  // namespace

// The active ranks have done something that a follower must do, too.
class Followable final : public BoardCondition {
 public:
  Followable(const JoinBoard& board, const Follower& follower)
      : BoardCondition(board), follower_(follower) {}
  // Announcements ring nobody, but the operations that follow them do.
  std::chrono::nanoseconds slice() const override { return std::chrono::milliseconds(10); }
  Follower::Seen seen() const noexcept { return seen_; }

 private:
  bool holds() override {
    seen_ = follower_.look();
    return seen_.next != Follower::Next::nothing_yet;
  }
  bool awaits(int member) const override { return !board().read(member).joined; }
  std::string description() const override { return "in step with the active ranks"; }
  sync::Waiting waiting_for() const override { return waiting(shm::Doing::in_step); }

  const Follower& follower_;
  Follower::Seen seen_;
};

bool Follower::await_iteration() {
  const UseGuard guard(engine_.job());
  kept_.clear();
  for (;;) {
    const Seen seen = wait_for_next();
    if (seen.next == Next::end) return false;
    if (seen.next == Next::iteration) break;
    // What the others still do in the iteration in which this rank joined has no hook run of its
    // own: it counts for the first one. Later on, what no hook has asked for is over with its
    // iteration.
    follow_unasked(posted_by(seen.leader));
    if (has_shadowed_) kept_.clear();
  }
  has_shadowed_ = true;
  if (++iteration_ % kIterationsPerLook == 0) look_for_failures();
  return true;
}

// There may be iterations without operations for a long time, and nobody to wait for.
void Follower::look_for_failures() {
  Followable condition(board_, *this);
  engine_.look_now_and_then(condition);
  engine_.throw_if_failed();
}

std::shared_ptr<WorkState> Follower::shadow(const CollectiveCall& call) {
  CollectiveCall asked = call;
  if (asked.tag == 0) asked.tag = caller_;
  if (auto result = take_kept(asked)) return result;
  for (;;) {
    const Seen seen = wait_for_next();
    if (seen.next != Next::operation) return std::make_shared<ShadowResult>(Contributors{});
    const CollectiveCall posted = posted_by(seen.leader);
    if (matches(asked, posted)) return follow(asked, must_supply(asked));
    // What another hook has to supply can't wait until its turn comes.
    if (must_supply(posted) && posted.tag != caller_ && hooks_.run(posted.tag)) {
      if (auto result = take_kept(asked)) return result;
      continue;
    }
    follow_unasked(posted);
  }
}

// Whether the values of this operation are to come from this rank.
bool Follower::must_supply(const CollectiveCall& call) const noexcept {
  return collectives::Shape::of(call, engine_.size()).root_supplies() &&
         call.root == engine_.rank();
}

Follower::Seen Follower::look() const {
  // The boards are read before the lines: operations of an iteration are posted before the next one
  // is announced, so a line that is still missing afterwards belongs to a later iteration.
  bool announced = false;
  bool all_joined = true;
  for (int m = 0; m < engine_.size(); ++m) {
    const sync::JoinBoardReading reading = board_.read(m);
    announced = announced || reading.iterations > iteration_;
    all_joined = all_joined && reading.joined;
  }
  for (int m = 0; m < engine_.size(); ++m) {
    const auto& line = sync::arrival_line(engine_.memory().member(m), engine_.next_number());
    if (m == engine_.rank() ||
        sync::observe_arrival(line, engine_.next_number()) != sync::Arrival::arrived ||
        (line.flags & shm::kShadow) != 0) {
      continue;
    }
    return {is_ahead(m, line.iteration) ? Next::iteration : Next::operation, m};
  }
  if (announced) return {Next::iteration, -1};
  return {all_joined ? Next::end : Next::nothing_yet, -1};
}

// Whether an operation of `member`, in that iteration, belongs to a later one than this rank's. The
// line has room for 32 bits of the number.
bool Follower::is_ahead(int member, std::uint32_t iteration) const {
  const auto after = [iteration](std::uint64_t other) {
    return static_cast<std::int32_t>(iteration - static_cast<std::uint32_t>(other)) > 0;
  };
  // Read after the line: an iteration is announced before its operations are posted.
  if (after(board_.read(member).iterations)) {
    throw SegmentError("rank " + std::to_string(member) + " posted operation " +
                       std::to_string(engine_.next_number()) +
                       " in an iteration that it hasn't announced: the segment is damaged");
  }
  return after(iteration_);
}

Follower::Seen Follower::wait_for_next() {
  Followable condition(board_, *this);
  engine_.wait_for(condition);
  return condition.seen();
}

// What the leader's line asks for, checked: it comes from the segment.
CollectiveCall Follower::posted_by(int leader) const {
  const auto& line = sync::arrival_line(engine_.memory().member(leader), engine_.next_number());
  CollectiveCall call{line.kind,  line.dtype, line.op, line.root,
                      line.count, nullptr,    nullptr, line.tag};
  if (!is_sound(call, engine_.size())) {
    throw SegmentError("rank " + std::to_string(leader) +
                       " posted an operation that can't be right (operation " +
                       std::to_string(engine_.next_number()) + "): the segment is damaged");
  }
  if (call.kind == CollectiveKind::all_reduce_shared)
    call.destination = result_of(call, line, leader);
  return call;
}

// Where a result that lies once lies for this rank, as the leader's line says.
std::byte* Follower::result_of(const CollectiveCall& call, const shm::ArrivalLine& line,
                               int leader) const {
  const std::size_t bytes = call.count * element_bytes(call.dtype);
  if (bytes == 0) return nullptr;
  const std::uint64_t place = sync::named_place(line, shm::kResultPlace);
  std::byte* result = engine_.shared_results().at(place, bytes);
  if (result != nullptr && place % element_bytes(call.dtype) == 0) return result;
  throw SegmentError("rank " + std::to_string(leader) +
                     " posted an operation whose result isn't memory of allocate_shared() "
                     "(operation " +
                     std::to_string(engine_.next_number()) + "): the segment is damaged");
}

std::shared_ptr<Operation> Follower::follow(const CollectiveCall& call, bool supplies) {
  if (call.kind == CollectiveKind::all_reduce_shared) overwrite(call);
  auto operation = engine_.start_shadow(call, supplies);
  engine_.wait_unguarded(*operation);
  return operation;
}

// Marks what another call has kept where the result of this one will lie.
void Follower::overwrite(const CollectiveCall& call) noexcept {
  const std::less<const std::byte*> before;
  const auto begin = [](const CollectiveCall& c) {
    return static_cast<const std::byte*>(c.destination);
  };
  const auto end = [&](const CollectiveCall& c) {
    return begin(c) + c.count * element_bytes(c.dtype);
  };
  for (Kept& kept : kept_) {
    if (kept.call.kind != CollectiveKind::all_reduce_shared || matches(call, kept.call)) continue;
    kept.is_overwritten = kept.is_overwritten || (before(begin(call), end(kept.call)) &&
                                                  before(begin(kept.call), end(call)));
  }
}

void Follower::follow_unasked(const CollectiveCall& posted) {
  const auto shape = collectives::Shape::of(posted, engine_.size());
  Kept kept{posted, {}, {}};
  CollectiveCall call = posted;
  if (shape.is_receiver(engine_.rank()) && !shape.has_shared_result()) {
    kept.destination.resize(shape.destination_bytes());
    call.destination = kept.destination.data();
  }
  const auto operation = follow(call, false);
  // An operation whose root had joined is an error of the active ranks' making.
  if (operation->error) return;
  kept.contributors = operation->active;
  kept_.push_back(std::move(kept));
}

std::shared_ptr<WorkState> Follower::take_kept(const CollectiveCall& call) {
  const auto kept = std::find_if(kept_.begin(), kept_.end(),
                                 [&](const Kept& k) { return matches(call, k.call); });
  if (kept == kept_.end()) return nullptr;
  if (kept->is_overwritten) {
    throw InvalidArgument(
        describe(call) +
        ": in this iteration a later all_reduce_shared has overwritten its result; give "
        "each call memory of its own, or shadow in the order of the active ranks");
  }
  if (!kept->destination.empty()) {
    std::memcpy(call.destination, kept->destination.data(), kept->destination.size());
  }
  auto result = std::make_shared<ShadowResult>(kept->contributors);
  kept_.erase(kept);
  return result;
}

bool Follower::matches(const CollectiveCall& call, const CollectiveCall& posted) const noexcept {
  return call.kind == posted.kind && call.dtype == posted.dtype && call.op == posted.op &&
         call.root == posted.root && call.count == posted.count && call.tag == posted.tag &&
         (call.kind != CollectiveKind::all_reduce_shared || call.count == 0 ||
          call.destination == posted.destination);
}

}  // namespace tensorplay::distributed::algorithms
