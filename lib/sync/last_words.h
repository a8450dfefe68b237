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
// The words are a record only (sync::record_end): peers see them when they see that the rank has
// vanished. A forked child says nothing: it isn't the rank.
#pragma once

#include "lib/shm/layout.h"

namespace tensorplay::sync {

// From its making to its end, the calling process leaves last words in `life`. `life` must be this
// process's, and stay mapped as long as this object lives. Made and destroyed by any thread.
class LastWords {
 public:
  explicit LastWords(shm::Life& life);
  ~LastWords();
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;

 private:
  shm::Life& life_;
};

}  // namespace tensorplay::sync
