#include <tensorplay/distributed/algorithms/join.h>

#include "lib/algorithms/join_context.h"

namespace tensorplay::distributed::algorithms {

Join::Join(JoinableList joinables, JoinOptions options)
    : context_(std::make_unique<JoinContext>(std::move(joinables), std::move(options))),
      exceptions_at_entry_(std::uncaught_exceptions()) {}

Join::~Join() noexcept(false) {
  if (context_->is_over()) return;
  if (std::uncaught_exceptions() > exceptions_at_entry_) {
    context_->abandon("an exception; see that rank's own message");
    return;
  }
  finish();
}

JoinReport Join::finish() {
  try {
    return context_->finish();
  } catch (const std::exception& error) {
    context_->abandon(error.what());
    throw;
  } catch (...) {
    context_->abandon("an exception that isn't a std::exception");
    throw;
  }
}

std::optional<Work> Join::notify_join_context(Joinable& joinable) {
  if (joinable.context_ == nullptr) return std::nullopt;
  return joinable.context_->notify(joinable);
}

void Join::fail(const char* what) noexcept {
  context_->abandon(what);
}

}  // namespace tensorplay::distributed::algorithms
