#include "lib/algorithms/join_context.h"

#include "lib/algorithms/hook_override.h"
#include "lib/algorithms/iteration_work.h"
#include "lib/algorithms/shadowed_iterations.h"
#include "lib/base/fault_point.h"
#include "lib/distributed/attach.h"
#include "lib/distributed/report.h"

#include <tensorplay/error.h>

#include <algorithm>

namespace tensorplay::distributed::algorithms {
namespace {

ProcessGroup group_of(const JoinableList& joinables) {
  if (joinables.get().empty()) {
    throw InvalidArgument("The join context manager requires at least one joinable");
  }
  return joinables.get().front().get().join_process_group();
}

}  // namespace

JoinContext::JoinContext(JoinableList joinables, JoinOptions options)
    : joinables_(joinables.get()), options_(std::move(options)), group_(group_of(joinables)) {
  check_joinables();
  if (options_.timeout) check_timeout(*options_.timeout);
  build_hooks();
  const UseGuard guard(group_.engine().job());
  group_.engine().throw_if_failed();
  if (options_.enable) {
    board_.emplace(group_.engine(), config(), options_.timeout.value_or(group_.timeout()));
    claim_joinables();
  } else {
    // No board: nobody waits at the end of a disabled context, so ranks may be any number apart.
    // Its mark in the arrivals tells it from an enabled one on another rank.
    group_.engine().membership().fingerprint = fingerprint_of(config());
  }
}

JoinContext::~JoinContext() {
  leave();
}

void JoinContext::check_joinables() const {
  for (std::size_t i = 0; i < joinables_.size(); ++i) {
    Joinable& joinable = joinables_[i].get();
    const std::string label = std::string(joinable.joinable_name()) + " (number " +
                              std::to_string(i + 1) + " of the list)";
    if (!(joinable.join_process_group() == group_)) {
      throw InvalidArgument(
          "Using join context manager with multiple process groups: " + label +
          " has another group than the first Joinable; a context serves one group, and contexts of "
          "different groups follow one another");
    }
    if (joinable.context_ != nullptr) {
      throw InvalidArgument(label + " is in a Join context already; finish that one first");
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (&joinables_[j].get() == &joinable) {
        throw InvalidArgument(label + " is in the list twice; pass each Joinable once");
      }
    }
  }
  if (group_.engine().membership().fingerprint != 0) {
    throw InvalidArgument(
        "this process group is in a Join context already; contexts of one group can't be nested: "
        "pass all Joinables to one context");
  }
}

void JoinContext::build_hooks() {
  for (const JoinableReference& joinable : joinables_) {
    hooks_.push_back(joinable.get().join_hook(options_.kwargs));
    if (hooks_.back() == nullptr) {
      throw InvalidArgument(std::string(joinable.get().joinable_name()) +
                            "::join_hook returned null; return a JoinHook, a plain one if there "
                            "is nothing to do");
    }
  }
  const std::string unknown = options_.kwargs.unknown_names();
  if (!unknown.empty()) {
    throw InvalidArgument("no Joinable of this Join context knows the argument " + unknown +
                          "; check the spelling, or leave it out");
  }
}

// All that must be the same on all ranks.
std::string JoinContext::config() const {
  std::string text = "Joinables [";
  for (std::size_t i = 0; i < joinables_.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::string(joinables_[i].get().joinable_name());
  }
  text +=
      std::string("], enable=") + (options_.enable ? "true" : "false") +
      ", throw_on_early_termination=" + (options_.throw_on_early_termination ? "true" : "false") +
      ", arguments {" + options_.kwargs.to_string() + "}";
  return text;
}

void JoinContext::claim_joinables() {
  notified_.assign(joinables_.size(), false);
  for (std::size_t i = 0; i < joinables_.size(); ++i) {
    Joinable& joinable = joinables_[i].get();
    joinable.context_ = this;
    joinable.index_ = static_cast<int>(i);
  }
  // Calls through a Joinable's own handle carry its place. A handle that several share can't tell
  // them apart: there, the one that notified last counts.
  for (std::size_t i = 0; i < joinables_.size(); ++i) {
    ProcessGroup& handle = joinables_[i].get().join_process_group();
    const auto sharers = std::count_if(
        joinables_.begin(), joinables_.end(),
        [&handle](const JoinableReference& j) { return &j.get().join_process_group() == &handle; });
    const auto tag = static_cast<std::uint16_t>(i + 1);
    handle.set_tag(sharers == 1 ? tag : 0);
    shared_tags_.push_back(sharers == 1 ? 0 : tag);
  }
}

void JoinContext::release_joinables() noexcept {
  for (const JoinableReference& joinable : joinables_) {
    if (joinable.get().context_ == this) joinable.get().context_ = nullptr;
  }
}

void JoinContext::leave() noexcept {
  if (left_) return;
  left_ = true;
  release_joinables();
  if (!options_.enable) group_.engine().membership().fingerprint = 0;
  if (board_) {
    for (const JoinableReference& joinable : joinables_) {
      joinable.get().join_process_group().set_tag(0);
    }
  }
  if (board_) board_->leave();
}

// --- On an active rank ---

// The first Joinable to notify sets the pace: its uses begin the iterations. Another one that is
// used twice in between takes over, so that a Joinable that is no longer used doesn't stop the
// count.
bool JoinContext::take_turn(int index) {
  const auto place = static_cast<std::size_t>(index);
  if (pacemaker_ >= 0 && pacemaker_ != index && !notified_[place]) {
    others_notified_ = notified_[place] = true;
    return false;
  }
  pacemaker_ = index;
  std::fill(notified_.begin(), notified_.end(), false);
  others_notified_ = false;
  return true;
}

std::optional<Work> JoinContext::notify(Joinable& joinable) {
  GroupEngine& engine = group_.engine();
  const UseGuard guard(engine.job());
  engine.throw_if_failed();
  const int index = joinable.index_;
  if ((pacemaker_ == index && !others_notified_) || take_turn(index)) {
    board_->announce();
    if (options_.throw_on_early_termination) expect_no_early_termination();
  }
  engine.membership().tag = shared_tags_[static_cast<std::size_t>(index)];
  if (index != 0) return std::nullopt;
  return IterationWork::of(engine, board_->iterations());
}

void JoinContext::expect_no_early_termination() {
  GroupEngine& engine = group_.engine();
  engine.memory().ring();
  board_->wait_for_iteration(board_->iterations());
  for (int m = 0; m < engine.size(); ++m) {
    if (board_->has_run_out(m) && board_->read(m).iterations < board_->iterations()) {
      board_->join(false);
      terminate("Detected at least one rank that exhausted inputs. Throwing across all ranks.");
    }
  }
}

// All ranks end the context together, without hooks; the group is whole afterwards.
void JoinContext::terminate(const std::string& message) {
  board_->wait_for_all(options_.skew_warning_threshold);
  report_ = board_->report();
  board_->resume();
  leave();
  over_ = true;
  throw EarlyTermination(message);
}

// --- Joining ---

JoinReport JoinContext::finish() {
  if (over_ && abandoned_) {
    group_.engine().throw_if_failed();
    throw InvalidArgument("this Join context was left by an exception: it has no report");
  }
  if (over_) return report_;
  if (!options_.enable) {
    leave();
    over_ = true;
    return report_;
  }
  GroupEngine& engine = group_.engine();
  const bool in_step = keeps_in_step();
  release_joinables();
  {
    const UseGuard guard(engine.job());
    engine.throw_if_failed();
    board_->join(in_step);
    if (options_.throw_on_early_termination) expect_inputs_everywhere();
  }
  if (in_step) shadow_iterations();
  {
    const UseGuard guard(engine.job());
    board_->wait_for_all(options_.skew_warning_threshold);
    report_ = board_->report();
    board_->resume();
  }
  leave();
  const bool is_last_joiner = report_.last_joiners.contains(engine.rank());
  fault_point("join.before_post_hooks");
  for (const auto& hook : hooks_) hook->post_hook(is_last_joiner);
  fault_point("join.post_hooks_run");
  over_ = true;
  return report_;
}

bool JoinContext::keeps_in_step() const {
  return !options_.throw_on_early_termination && group_.size() > 1 &&
         std::any_of(hooks_.begin(), hooks_.end(),
                     [](const auto& hook) { return overrides_main_hook(*hook); });
}

// This rank has run out: so the others must have, too, before they begin another iteration.
void JoinContext::expect_inputs_everywhere() {
  board_->wait_for_iteration(board_->iterations() + 1);
  if (board_->most_iterations_of_others() > board_->iterations()) {
    terminate("Rank " + std::to_string(group_.rank()) + " exhausted all inputs.");
  }
}

void JoinContext::shadow_iterations() {
  ShadowedIterations(*board_, hooks_).run();
}

void JoinContext::abandon(const std::string& what) noexcept {
  if (over_) return;
  over_ = true;
  abandoned_ = true;
  GroupEngine& engine = group_.engine();
  try {
    if (options_.enable) {
      const std::string text = "left its Join context by an exception in iteration " +
                               std::to_string(board_->iterations()) + ", before operation " +
                               std::to_string(engine.next_number()) + ": " + what;
      if (engine.survives()) {
        engine.leave_behind(text);
      } else {
        engine.fail(raised_failure(engine.memory(), engine.membership(), text));
      }
    }
  } catch (...) {
    // Out of memory for the text: the others will see this rank end.
  }
  leave();
}

}  // namespace tensorplay::distributed::algorithms
