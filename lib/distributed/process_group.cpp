#include <tensorplay/distributed/process_group.h>

#include "lib/distributed/group_engine.h"

#include <limits>
#include <string>

namespace tensorplay::distributed {

int ProcessGroup::rank() const noexcept {
  return engine_->rank();
}

int ProcessGroup::size() const noexcept {
  return engine_->size();
}

std::chrono::milliseconds ProcessGroup::timeout() const noexcept {
  return engine_->job().timeout();
}

PeerFailurePolicy ProcessGroup::on_peer_failure() const noexcept {
  return engine_->survives() ? PeerFailurePolicy::continue_without : PeerFailurePolicy::raise;
}

CollectiveCall ProcessGroup::tagged(const CollectiveCall& call) const noexcept {
  CollectiveCall tagged = call;
  tagged.tag = tag_;
  tagged.purpose = purpose_;
  return tagged;
}

Work ProcessGroup::start(const CollectiveCall& call) {
  const UseGuard guard(engine_->job());
  return Work(engine_->start(tagged(call)));
}

Contributors ProcessGroup::run(const CollectiveCall& call) {
  const UseGuard guard(engine_->job());
  return engine_->run(tagged(call));
}

void ProcessGroup::expect_blocks(const char* operation, const char* buffer, std::size_t have,
                                 std::size_t block) const {
  const auto ranks = static_cast<std::size_t>(size());
  if (block <= std::numeric_limits<std::size_t>::max() / ranks && have == block * ranks) return;
  throw InvalidArgument(std::string(operation) + ": the " + buffer + " has " +
                        std::to_string(have) + " elements, but " + std::to_string(size()) +
                        " ranks with a block of " + std::to_string(block) +
                        " elements each are expected");
}

std::size_t ProcessGroup::blocks_of(const char* operation, std::size_t source,
                                    std::size_t destination) const {
  const auto ranks = static_cast<std::size_t>(size());
  if (source == destination && source % ranks == 0) return source / ranks;
  throw InvalidArgument(std::string(operation) + ": source and destination have " +
                        std::to_string(source) + " and " + std::to_string(destination) +
                        " elements; both must be the same multiple of the " +
                        std::to_string(size()) + " ranks");
}

void ProcessGroup::expect_equal(const char* operation, std::size_t values, std::size_t result) {
  if (values == result) return;
  throw InvalidArgument(std::string(operation) + ": there are " + std::to_string(values) +
                        " values, but the result has " + std::to_string(result) +
                        " elements; pass spans of the same length");
}

void* ProcessGroup::allocate_bytes(std::size_t count, std::size_t element_bytes) {
  if (count > std::numeric_limits<std::size_t>::max() / element_bytes) {
    throw InvalidArgument("allocate(): " + std::to_string(count) + " elements of " +
                          std::to_string(element_bytes) + " bytes are more than can be addressed");
  }
  const UseGuard guard(engine_->job());
  return engine_->job().arena().allocate(count * element_bytes);
}

void ProcessGroup::deallocate_bytes(void* memory) {
  const UseGuard guard(engine_->job());
  // Peers of a group that has failed may still be reading or writing it, and so may those of an
  // operation that an exception interrupts: kept until the job ends.
  Job& job = engine_->job();
  if (job.any_group_failed() || job.in_use(job.arena().block_at(memory))) return;
  job.arena().deallocate(memory);
}

// --- Work ---

std::shared_ptr<WorkState> Work::state() const {
  return state_ || origin_.make == nullptr ? state_ : origin_.make(origin_);
}

Contributors Work::wait() {
  const auto asked = state();
  return asked ? asked->wait({}) : Contributors{};
}

Contributors Work::wait(std::chrono::milliseconds timeout) {
  if (timeout < std::chrono::milliseconds::zero()) {
    throw InvalidArgument("Work::wait(): timeout is " + std::to_string(timeout.count()) +
                          " ms; it must not be negative");
  }
  const auto asked = state();
  return asked ? asked->wait(timeout) : Contributors{};
}

bool Work::is_completed() {
  const auto asked = state();
  return !asked || asked->is_completed();
}

Contributors Work::contributors() const {
  const auto asked = state();
  return asked ? asked->contributors() : Contributors{};
}

std::int64_t Work::result() {
  const auto asked = state();
  return asked ? asked->result() : 0;
}

}  // namespace tensorplay::distributed
