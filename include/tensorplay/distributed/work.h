// A collective that has been started and not yet waited for.
#pragma once

#include <tensorplay/distributed/contributors.h>

#include <chrono>
#include <cstdint>
#include <memory>

namespace tensorplay::distributed {

class WorkState;  // what a Work refers to; known to the library only

// How the state of a Work comes about when somebody first asks. For the library: a notification is
// hardly ever asked for its result, and is to cost less than an allocation.
struct WorkOrigin {
  std::shared_ptr<WorkState> (*make)(const WorkOrigin& origin) = nullptr;
  std::uint64_t group = 0;
  std::uint64_t generation = 0;
  std::uint64_t iteration = 0;
};

// The handle of an asynchronous operation. Copyable; copies refer to the same operation.
//
// The buffers passed to the operation belong to it until wait() has returned or is_completed() has
// given true: don't write the source, don't read the destination, keep both alive. There is no
// thread behind a Work: operations make progress while any call of this process waits for
// something, and whenever is_completed() is asked; that a later operation has ended, a barrier for
// one, doesn't tell that this one has. Dropping a Work does not cancel its operation.
//
// A Work is used by the thread that uses its group, and must not outlive the process's last
// ProcessGroup.
class Work {
 public:
  Work() = default;  // refers to nothing: is_completed() is true, wait() returns no contributors
  explicit Work(std::shared_ptr<WorkState> state) noexcept : state_(std::move(state)) {}
  Work(decltype(WorkOrigin::make) make, std::uint64_t group, std::uint64_t generation,
       std::uint64_t iteration) noexcept
      : origin_{make, group, generation, iteration} {}

  // Blocks until the operation has ended on this rank: source and destination are the caller's
  // again, and the destination holds the result. Gives the ranks that contributed.
  // Throws what the operation met: CollectiveMismatch, PeerFailure, Timeout, or InvalidArgument
  // where the root had joined; the same again at every further call.
  Contributors wait();

  // The same, for `timeout` at most; 0 looks once. Then throws Timeout with the report of what
  // every rank is doing, on this rank alone: the operation goes on, the buffers still belong to it,
  // the group is as whole as before, and wait() may be called again. The group's own time-out
  // counts beside this one, for each call of wait() anew; after that one is_completed() is true.
  Contributors wait(std::chrono::milliseconds timeout);

  // True if wait() would not block. Lets all operations of this process advance; never blocks. True
  // as well once the group has failed, which wait() then throws; a time-out is counted by wait()
  // only.
  bool is_completed();

  // The contributors of a completed operation. Throws InvalidArgument before that.
  Contributors contributors() const;

  // The operation's own number, where it has one: the active ranks of an iteration for the Work of
  // Join::notify_join_context; the number of contributors for a collective. Waits like wait().
  std::int64_t result();

 private:
  std::shared_ptr<WorkState> state() const;

  std::shared_ptr<WorkState> state_;
  WorkOrigin origin_;
};

}  // namespace tensorplay::distributed
