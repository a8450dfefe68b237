// What a forked child tells its parent about its end: one short message through a pipe.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace tensorplay::multiprocessing {

struct ChildReport {
  enum class Kind : std::uint8_t {
    finished,     // the body returned
    raised,       // an exception left it
    peer_failed,  // so did an exception that says another rank is to blame (PeerFailure)
  };

  // The longest text, in bytes; what is longer is cut. With it a message is at most PIPE_BUF long,
  // so that writing it to an empty pipe neither blocks nor is torn.
  static constexpr std::size_t kTextBytesMax = PIPE_BUF - 8;

  Kind kind = Kind::finished;
  std::string text;  // "InvalidArgument: no such rank"; empty when finished
};

// The report of the exception that is being handled: its class as in the source (those of this
// library without their namespace) and its text. A PeerFailure nested in it counts as one.
ChildReport report_current_exception() noexcept;

// Writes the report to a pipe that nothing has been written to. Lost if nobody reads any more.
void send(int pipe, const ChildReport& report) noexcept;

// Reads what is in the pipe now, without waiting. Nothing if there is no whole report.
std::optional<ChildReport> receive(int pipe);

}  // namespace tensorplay::multiprocessing
