// Carries what one rank writes, line by line, to an output that all ranks share.
#pragma once

#include "lib/multiprocessing/file_descriptor.h"
#include "tools/tprun/output.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace tensorplay::tprun {

// Reads a pipe without waiting and appends each line, with the prefix, to the output; lines of
// different ranks never mix. A last line without newline gets one. A line of more than
// kLineBytesMax bytes comes as several lines, so that memory is bounded. '\r' is a byte like any
// other: what a progress bar draws comes out as one line when the bar is done.
//
// When nobody reads the output any more the pipe is closed: the rank then gets SIGPIPE, as it would
// without tprun.
class LineRelay {
 public:
  static constexpr std::size_t kLineBytesMax = std::size_t{64} << 10;

  // `output` outlives the relay. Throws std::system_error.
  LineRelay(multiprocessing::FileDescriptor source, std::string prefix, Output& output);

  // Reads at most some KiB of what the pipe holds. Whether there was anything.
  bool read_some();
  // Ends the last line and closes the pipe.
  void close();

  bool is_open() const noexcept { return source_.is_open(); }
  bool wants_to_read() const noexcept { return is_open() && !output_->is_full(); }
  int descriptor() const noexcept { return source_.get(); }

 private:
  void take(std::string_view bytes);
  void put_line(std::string_view rest_of_line);

  multiprocessing::FileDescriptor source_;
  std::string prefix_;
  std::string line_;  // the beginning of a line that isn't complete
  Output* output_;
};

}  // namespace tensorplay::tprun
