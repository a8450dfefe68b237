#include "lib/distributed/operation.h"

#include "lib/distributed/group_engine.h"

#include <tensorplay/error.h>

namespace tensorplay::distributed {

Contributors Operation::wait(std::optional<std::chrono::nanoseconds> timeout) {
  if (stage != Stage::done) {
    const auto group = engine.lock();
    if (!group) {
      throw InvalidArgument(std::string(name(call.kind)) +
                            ": its process group was given up before the operation ended");
    }
    group->wait(*this, timeout);
  }
  if (error) std::rethrow_exception(error);
  return active;
}

bool Operation::is_completed() {
  if (stage == Stage::done) return true;
  const auto group = engine.lock();
  return !group || group->poll(*this);
}

Contributors Operation::contributors() const {
  if (stage != Stage::done) {
    throw InvalidArgument(std::string(name(call.kind)) +
                          ": the contributors are known once the operation has completed; wait() "
                          "for it first");
  }
  if (error) std::rethrow_exception(error);
  return active;
}

}  // namespace tensorplay::distributed
