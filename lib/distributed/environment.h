// What the environment says about this process's place in its job, as a function of that
// environment: from_environment() gives it the real one, tests give it a table.
#pragma once

#include <tensorplay/distributed/process_group_options.h>

#include <functional>
#include <optional>
#include <string>

namespace tensorplay::distributed {

struct Environment {
  // The value of a variable; nothing if it isn't set.
  std::function<std::optional<std::string>(const char* name)> variable;
  // Names the process that started the ranks, told by the variable that gives each its rank. See
  // launcher_process.h.
  std::function<std::string(const char* rank_variable)> launcher;

  static Environment of_this_process();
};

// As documented at from_environment(). Calls nothing but the two functions, in the calling thread.
ProcessGroupOptions options_from(const Environment& environment);

// What TENSORPLAY_STREAMING_STORES says. Throws InvalidArgument for anything but "auto", "never"
// and "always".
StreamingStores streaming_stores_of(const Environment& environment);

}  // namespace tensorplay::distributed
