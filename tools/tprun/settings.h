// What tprun is asked to do.
#pragma once

#include "tools/tprun/binding.h"

#include <tensorplay/distributed/peer_failure_policy.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

namespace tensorplay::tprun {

struct Settings {
  int ranks = 0;
  std::string job;        // never empty
  std::string launch;     // random: tells this start of the job from others
  std::string timeout_s;  // as given; empty: the programs' own
  bool prefix = true;
  std::chrono::milliseconds grace{std::chrono::seconds{5}};
  std::chrono::milliseconds stopped_grace{std::chrono::seconds{10}};  // where the others go on
  distributed::PeerFailurePolicy on_peer_failure = distributed::PeerFailurePolicy::raise;
  BindTo bind_to = BindTo::automatic;
  std::vector<std::string> command;  // the program and its arguments
};

// The command line can't be right. The message is one line.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The command line asks for help, which is the text.
class HelpWanted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Throws UsageError, HelpWanted. A job that isn't named gets a random name. What becomes of the
// others when a rank dies is told by the environment (TENSORPLAY_ON_PEER_FAILURE) if not here.
Settings parse_settings(int argc, const char* const* argv);

}  // namespace tensorplay::tprun
