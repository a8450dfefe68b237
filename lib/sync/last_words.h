// What a rank tells its peers about its end while it still can.
//
// Signals leave no time for words: the kernel and the parent tell of those. But two ends pass
// through the C++ run time, and nobody else knows as much about them:
//
//   an exception that nobody catches   std::terminate() is called with it: its class and text,
//                                      cause raised, instead of a bare "signal 6"
//   exit(), return from main           the exit code, also where a parent that isn't ours (a shell,
//                                      mpirun) reaps the process before anybody can look
//
// The first rank of a process installs a terminate handler and an exit handler, once. The former
// ends by calling the handler that it replaced; a program that installs one later keeps its own,
// and may call this one by what std::set_terminate gave it.
//
// What follows may take long: other handlers, static destructors, a core dump. So with the words
// the rank falls silent, publishing nothing any more, and says that it exits: its peers needn't
// wait for the end of its process. If another thread is using the rank's groups, that one goes on,
// and the words are a record only, which peers see when the process has ended.
//
// Exit handlers run in the reverse order of their registration. Ours comes before those that the
// program registers later, too: exit() first ends the thread_local objects of the thread that calls
// it, and one of the thread that made the rank registers our handler once more. Another thread's
// exit() runs later handlers first.
//
// A forked child says nothing: it isn't the rank.
#pragma once

#include "lib/shm/layout.h"

#include <tensorplay/error.h>

#include <functional>
#include <string>

namespace tensorplay::sync {

// From its making to its end, the calling process leaves last words in `life`. `life` must be this
// process's, and stay mapped as long as this object lives. Made and destroyed by any thread.
class LastWords {
 public:
  // `fall_silent` makes the rank publish nothing from then on; false if it can't, since another
  // thread is at it. Called when the process ends, perhaps more than once; throws nothing.
  LastWords(shm::Life& life, std::function<bool()> fall_silent);
  ~LastWords();
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;

  // For the handlers: the words, if this is the rank's process.
  void say(PeerFailure::Cause cause, const std::string& words, int status) noexcept;

 private:
  shm::Life& life_;
  std::function<bool()> fall_silent_;
};

}  // namespace tensorplay::sync
