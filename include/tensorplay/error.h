// The errors of the library: one base, one class for each thing a caller can do about it.
//
// Every message says what happened, to which rank, in which operation, and what to do. Messages
// that concern a whole group are the same text on all of its ranks.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

namespace tensorplay {

// The base of everything this library throws. Catch it to end a program with one line and exit
// code 2; catch one of the classes below to act.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The caller passed something that can't work: a root outside the group, a root that has joined, a
// bitwise reduction of floating-point values, buffers that overlap, a missing environment variable.
// The group is as whole as before.
class InvalidArgument : public Error {
 public:
  using Error::Error;
};

// A Join context with `throw_on_early_termination` found a rank without inputs. Thrown by all
// ranks in the same iteration; the group is whole afterwards.
class EarlyTermination : public Error {
 public:
  using Error::Error;
};

// Another rank of the group is gone. The group can't be used any more; where deaths are survived
// (PeerFailurePolicy::continue_without) it was the root of this one operation, and the group can.
class PeerFailure : public Error {
 public:
  enum class Cause {
    raised,  // an exception left the rank's join context or the life of its process group
    exited,  // the rank gave up its process group, or its process ended, without joining
    killed,  // the rank's process was ended by a signal
  };

  // How it ended as a number: the exit code for `exited`, the signal for `killed`.
  static constexpr int kUnknownStatus = -1;

  PeerFailure(int rank, Cause cause, const std::string& message, int pid = 0,
              int status = kUnknownStatus)
      : Error(message), rank_(rank), cause_(cause), pid_(pid), status_(status) {}

  // The rank that failed, as numbered in the group that reports it.
  int rank() const noexcept { return rank_; }
  Cause cause() const noexcept { return cause_; }
  // Of the rank's process, in its PID namespace; 0 if it is unknown.
  int pid() const noexcept { return pid_; }
  // The code that the rank's process exited with, and the signal that ended it; nothing if it ended
  // otherwise, lives, or if neither its parent nor the kernel tells.
  std::optional<int> exit_code() const noexcept { return status_of(Cause::exited); }
  std::optional<int> signal() const noexcept { return status_of(Cause::killed); }

 private:
  std::optional<int> status_of(Cause cause) const noexcept {
    return cause_ == cause && status_ != kUnknownStatus ? std::optional(status_) : std::nullopt;
  }

  int rank_;
  Cause cause_;
  int pid_;
  int status_;
};

// The ranks of a group called different collectives, or the same one with another element type,
// count, reduction or root; or their Join contexts differ: then the group can't be used any more.
// Or their models differ (DistributedDataParallel): then it can.
class CollectiveMismatch : public Error {
 public:
  using Error::Error;
};

// A wait reached its deadline. The message tells which ranks are awaited, and for each rank of the
// group what it is doing, for how long, and what it called last: whether it is dead, stopped, still
// in user code, joined, or waiting for something else. The group can't be used any more; but after
// the time-out of a single Work::wait(timeout) it is as whole as before.
class Timeout : public Error {
 public:
  using Error::Error;
};

// The shared memory could not be made, reserved or attached, or what was found under its name is
// not a segment of this library.
class SegmentError : public Error {
 public:
  using Error::Error;
};

}  // namespace tensorplay
