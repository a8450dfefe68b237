// Whether a hook has a main_hook of its own.
#pragma once

#include <tensorplay/distributed/algorithms/join_hook.h>

namespace tensorplay::distributed::algorithms {

// True if the hook's class, or one between it and JoinHook, overrides main_hook. That is what
// decides between sleeping and keeping in step, so it must be known before main_hook is called.
bool overrides_main_hook(const JoinHook& hook) noexcept;

}  // namespace tensorplay::distributed::algorithms
