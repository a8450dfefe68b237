// Hands what is typed at the terminal to rank 0.
#pragma once

#include "lib/multiprocessing/file_descriptor.h"

#include <string>

namespace tensorplay::tprun {

// The ranks are process groups of their own, and only the terminal's foreground group, tprun's, may
// read from it: tprun reads in rank 0's place. Not needed when standard input is a file or a pipe,
// which rank 0 gets as it is. One thread; never blocks.
class StdinRelay {
 public:
  // `sink`: the end of a pipe from which rank 0 reads. Throws std::system_error.
  explicit StdinRelay(multiprocessing::FileDescriptor sink);

  // Whether to poll standard input: not while the terminal belongs to another job, which would stop
  // tprun, nor before rank 0 has taken what was read before.
  bool wants_to_read() const noexcept;
  void read_some();
  bool wants_to_write() const noexcept { return sink_.is_open() && !pending_.empty(); }
  void write_some();
  int sink() const noexcept { return sink_.get(); }

 private:
  multiprocessing::FileDescriptor sink_;
  std::string pending_;
};

}  // namespace tensorplay::tprun
