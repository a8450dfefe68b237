// What a Joinable does for a rank that has joined.
#pragma once

namespace tensorplay::distributed::algorithms {

// The two hooks of a Joinable in a Join context. Derive, override what is needed; both do nothing
// by default. One hook lives as long as its Join.
class JoinHook {
 public:
  virtual ~JoinHook() = default;

  // Shadows one iteration of the active ranks. Overriding it keeps the joined rank *in step*: the
  // hooks of all Joinables run in list order once for each iteration that an active rank announces
  // (one that has to supply a broadcast that the active ranks make first, before its turn), and the
  // collectives made here are matched with those that the active ranks make through this Joinable
  // in that iteration. Such a shadow call
  //   - contributes nothing, whatever its buffer holds;
  //   - gets the result into the buffer that it passed;
  //   - returns no contributors, the buffer untouched, if the active ranks skip that collective in
  //     this iteration ('not made this time');
  //   - supplies the values where it is a broadcast or scatter whose root is this rank; these a
  //   hook
  //     makes in the order in which the active ranks make them.
  // Collectives of the active ranks that no hook asks for are followed without the hook's doing.
  // A hook that leaves this as it is costs nothing: its rank sleeps from joining to the end.
  virtual void main_hook();

  // Runs once on every rank when all ranks have joined, in list order; its collectives are ordinary
  // ones. `is_last_joiner` is true on the ranks that missed no iteration: at least one, possibly
  // several, all of them if the inputs were even.
  virtual void post_hook(bool is_last_joiner) { static_cast<void>(is_last_joiner); }
};

}  // namespace tensorplay::distributed::algorithms
