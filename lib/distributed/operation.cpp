#include "lib/distributed/operation.h"

#include "lib/distributed/group_engine.h"

#include <tensorplay/error.h>

namespace tensorplay::distributed {

void Operation::begin(const CollectiveCall& call_, int world_size, Role role_) {
  call = call_;
  role = role_;
  shape = collectives::Shape::of(call, world_size);
  algorithm = collectives::algorithm_for(shape);
  kernel = shape.reduces() ? reduce::kernel_for(call.dtype, call.op) : nullptr;
  place = 0;
  vault = nullptr;
  staged_ahead = false;
  supplies = false;
  stage = Stage::queued;
  next_peer = 0;
  active = {};
  participants = {};
  run.reset();
  refused = false;
  error = nullptr;
}

Contributors Operation::wait(std::optional<std::chrono::nanoseconds> timeout) {
  if (stage != Stage::done) {
    const auto group = engine.lock();
    if (!group) {
      throw InvalidArgument(std::string(name(call.kind)) +
                            ": its process group was given up before the operation ended");
    }
    group->wait(*this, timeout);
  }
  return result_of_done();
}

Contributors Operation::result_of_done() const {
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
  return result_of_done();
}

}  // namespace tensorplay::distributed
