// Join: the context manager for uneven inputs.
//
// Inside a Join context a rank is *active* until it leaves its loop, then *joined* until all ranks
// have joined. Collectives of the context's group are made by the active ranks only: those who run
// out of inputs announce it by one store and sleep, the others go on, and nobody hangs.
//
//     auto group = init_process_group();
//     DistributedDataParallel model(net.parameters(), group);
//     {
//       Join join({model});
//       for (const Batch& batch : shard) { ... model ... }   // shards may differ in length
//     }                                                      // returns on every rank, same model
//
// What happens to             | while some ranks have joined
// ----------------------------+--------------------------------------------------------------------
// all_reduce, reduce,         | over the active ranks' values; avg divides by their number
// reduce_scatter,             |
// all_reduce_shared           |
// all_gather, gather,         | blocks of joined ranks are zero
// all_to_all                  |
// broadcast, scatter          | InvalidArgument on all active ranks if the root has joined, unless
// its
//                             | hook is in step and supplies the values
// reduce, gather              | likewise, unless the root is in step
// barrier                     | waits for the active ranks
// other groups                | not concerned: a joined rank still has to come
//
// Several groups. A context concerns one group. While a rank waits in finish() it makes no other
// calls, so a group whose ranks still need each other can't be used inside another group's context
// by ranks that run out at different times: let contexts of different groups follow one another.
//
// Errors. An exception that leaves the context on one rank reaches the others as PeerFailure. What
// can't work is CollectiveMismatch on all ranks: another list of Joinables, other flags or
// arguments on one rank than on another, one rank inside and another outside a context at the same
// collective.
#pragma once

#include <tensorplay/distributed/algorithms/join_hook.h>
#include <tensorplay/distributed/algorithms/join_kwargs.h>
#include <tensorplay/distributed/algorithms/join_report.h>
#include <tensorplay/distributed/algorithms/joinable.h>
#include <tensorplay/distributed/work.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace tensorplay::distributed::algorithms {

// The Joinables of a context, by reference, in order: `{model, optimizer}`.
using JoinableReference = std::reference_wrapper<Joinable>;
class JoinableList {
 public:
  // From braces only: a single Joinable isn't a list, so that `Join join({model})` has one meaning.
  JoinableList(std::initializer_list<JoinableReference> joinables) : joinables_(joinables) {}
  JoinableList(std::vector<JoinableReference> joinables) : joinables_(std::move(joinables)) {}

  const std::vector<JoinableReference>& get() const noexcept { return joinables_; }

 private:
  std::vector<JoinableReference> joinables_;
};

struct JoinOptions {
  // Behaviour. The same on all ranks.
  // false: the inputs are known to be even; the context does nothing, hooks aren't run.
  bool enable = true;
  // true: when one rank runs out of inputs, all ranks throw EarlyTermination in that iteration.
  bool throw_on_early_termination = false;
  // What the Joinables' join_hook() receive.
  JoinKwargs kwargs = {};
  // The longest that this rank waits for the others at the end of the context, or in a notification
  // that waits, without any sign of progress of theirs. Unset: the group's time-out. Collectives go
  // by the group's in any case.
  std::optional<std::chrono::milliseconds> timeout = std::nullopt;
  // A joined rank warns once, on stderr, when the others are this many iterations ahead of it.
  std::int64_t skew_warning_threshold = 1000;
};

// One context. Made at its beginning by all ranks of the group, not nested in another one of the
// same group; used by one thread.
class Join {
 public:
  // Enters the context: builds the hooks in list order, also for a disabled one. Sends nothing and
  // waits for nobody. Throws InvalidArgument, the Joinables being as they were before: no Joinable,
  // two groups, a Joinable twice or in another context already, a context on this group already, an
  // argument that no Joinable knows; and what the group has failed by.
  explicit Join(JoinableList joinables, JoinOptions options = {});

  // Leaving the scope joins, as finish(). Leaving it by an exception doesn't wait: it tells the
  // other ranks, whose next collective (or wait) in this group throws PeerFailure.
  ~Join() noexcept(false);

  Join(const Join&) = delete;
  Join& operator=(const Join&) = delete;

  // Joins: this rank has no more inputs. Shadows what the hooks ask for, waits until all ranks have
  // joined, runs the post hooks. A second call returns the same report, or throws if there is none
  // because an exception ended the context. Throws what the hooks throw, PeerFailure, Timeout
  // (JoinOptions::timeout, counted from the last sign of progress of any active rank), and
  // EarlyTermination if that was asked for.
  JoinReport finish();

  // Tells that `joinable` begins (another) use in this iteration. One store; no system call, no
  // waiting. The Joinable that notifies first sets the pace: each of its uses begins an iteration.
  // Another one that is used twice in between takes over, so that every use of every Joinable has
  // an iteration, and a main_hook that shadows it.
  //
  // Gives a Work for the first Joinable of the list, whose result() is the number of ranks that are
  // active in this iteration; nothing for the others, in a disabled context and outside of one.
  //
  // Under throw_on_early_termination it waits until every rank has either announced this iteration
  // or joined, and throws EarlyTermination in the latter case. Throws what the group has failed by,
  // and InvalidArgument for two threads at once.
  static std::optional<Work> notify_join_context(Joinable& joinable);

 private:
  template <typename Body>
  friend JoinReport with_join(JoinableList, JoinOptions, Body&&);
  void fail(const char* what) noexcept;  // tells the others why this rank leaves by an exception

  std::unique_ptr<JoinContext> context_;
  int exceptions_at_entry_;
};

// Runs `body` inside a context and finishes it. As a Join in a scope, but an exception of the body
// reaches the other ranks with its text.
template <typename Body>
JoinReport with_join(JoinableList joinables, JoinOptions options, Body&& body) {
  Join join(std::move(joinables), std::move(options));
  try {
    std::forward<Body>(body)();
  } catch (const std::exception& error) {
    join.fail(error.what());
    throw;
  } catch (...) {
    join.fail("an exception that isn't a std::exception");
    throw;
  }
  return join.finish();
}

}  // namespace tensorplay::distributed::algorithms
