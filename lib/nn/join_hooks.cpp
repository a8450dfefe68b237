#include "lib/nn/join_hooks.h"

namespace tensorplay::nn {

FinalModelHook::FinalModelHook(Replica& replica, Divisor divisor) : replica_(replica) {
  replica_.enter_context(divisor);
}

// For a context that an exception has left, or that wasn't entered after all.
FinalModelHook::~FinalModelHook() {
  leave();
}

void FinalModelHook::post_hook(bool is_last_joiner) {
  leave();
  replica_.take_final_model(is_last_joiner);
}

// Once: a Join may live on after its end, and must not change what the next one has set.
void FinalModelHook::leave() noexcept {
  if (in_context_) replica_.leave_context();
  in_context_ = false;
}

}  // namespace tensorplay::nn
