// Something that takes part in a Join context: a model, an optimizer, a metric.
#pragma once

#include <tensorplay/distributed/algorithms/join_hook.h>
#include <tensorplay/distributed/algorithms/join_kwargs.h>
#include <tensorplay/distributed/process_group.h>

#include <memory>

namespace tensorplay::distributed::algorithms {

class JoinContext;  // the context a Joinable is in; known to the library only

// The base of what can be passed to a Join. A Joinable calls Join::notify_join_context(*this) once
// per use in an iteration, before its first collective, and makes its collectives through the very
// handle that join_process_group() returns: they carry its mark, by which the calls of its hook are
// matched on ranks in step. A Joinable is in at most one context at a time, and must outlive it.
//
//     class Counter : public Joinable {
//      public:
//       explicit Counter(ProcessGroup group) : group_(group) {}
//       void count() {
//         Join::notify_join_context(*this);
//         std::int64_t one = 1;
//         group_.all_reduce(std::span(&one, 1));
//         total += one;                            // the number of ranks that still had inputs
//       }
//       std::unique_ptr<JoinHook> join_hook(const JoinKwargs&) override {
//         return std::make_unique<JoinHook>();     // nothing to shadow: joined ranks are left out
//       }
//       ProcessGroup& join_process_group() override { return group_; }
//       std::int64_t total = 0;
//      private:
//       ProcessGroup group_;
//     };
class Joinable {
 public:
  virtual ~Joinable() = default;

  // A fresh hook for one context. Called once when the context is entered, on every rank, in list
  // order. Must not return null; should make no collectives.
  virtual std::unique_ptr<JoinHook> join_hook(const JoinKwargs& kwargs) = 0;

  // The group of this Joinable's collectives: the same for all Joinables of one context.
  virtual ProcessGroup& join_process_group() = 0;

  // A short name for messages and reports.
  virtual const char* joinable_name() const noexcept { return "Joinable"; }

  // Whether this Joinable is inside a Join context that is enabled, on a rank that is active.
  bool in_join_context() const noexcept { return context_ != nullptr; }

 protected:
  Joinable() = default;
  // A copy is a Joinable of its own, in no context.
  Joinable(const Joinable&) noexcept {}
  Joinable& operator=(const Joinable&) noexcept { return *this; }

 private:
  friend class Join;
  friend class JoinContext;
  JoinContext* context_ = nullptr;  // set while an enabled context holds this Joinable
  int index_ = 0;                   // its place in that context's list
};

}  // namespace tensorplay::distributed::algorithms
