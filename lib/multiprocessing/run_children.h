// Runs a function in several forked children and finds out which of them failed first, and why.
#pragma once

#include "lib/multiprocessing/child.h"
#include "lib/multiprocessing/first_failure.h"

#include <chrono>
#include <functional>
#include <optional>

namespace tensorplay::multiprocessing {

struct RunChildrenOptions {
  // Whether the others go on when one fails. If so nobody is ended who isn't stopped, however
  // long it takes, and a child that a signal has ended is lost, which is a failure only if no child
  // succeeds. What a child says itself, by an exception or an exit code, stays one.
  bool others_go_on = false;
  // If they go on: how long all children that are left may be stopped without a break (see
  // standstill.h) when all others have ended, before they are killed.
  std::chrono::milliseconds stopped_grace{std::chrono::seconds{10}};
  // How long the other children may go on after the first failure, and again after SIGTERM, before
  // they are killed.
  std::chrono::milliseconds grace{std::chrono::seconds{2}};
  // Called in the parent for each child that has ended, in the order in which they did.
  std::function<void(int rank, const ChildEnd& end)> on_end;
};

// Forks `count` children, calls body(rank) in each, and waits for all of them to end; none is left,
// not even as a zombie, also when this throws. See child.h for how a child lives and ends.
//
// Returns the first failure. A child that says another one is to blame (PeerFailure) doesn't count
// as the first as long as there is one that doesn't; nor does what a child did after SIGTERM.
//
// Changes no signal handler, and works where SIGCHLD is ignored. To be called by a thread that
// lives until this returns, in a process with no other thread. Throws Error if not all children can
// be started (no body has run then).
std::optional<ChildFailure> run_children(int count, const std::function<void(int rank)>& body,
                                         const RunChildrenOptions& options = {});

}  // namespace tensorplay::multiprocessing
