#include "lib/distributed/failure.h"

#include "lib/base/fault_point.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace tensorplay::distributed {

void record_failure(shm::FailureRecord& record, const Failure& failure) noexcept {
  auto expected = shm::FailureState::none;
  // SYNC failure. Release: pairs with has_failed(), for those who see `writing`. Relaxed on
  // failure: another rank's record counts.
  if (!record.state.compare_exchange_strong(expected, shm::FailureState::writing,
                                            std::memory_order_release, std::memory_order_relaxed)) {
    return;
  }
  fault_point("failure.writing");
  record.kind = failure.kind;
  record.rank = failure.rank;
  record.cause = static_cast<std::uint32_t>(failure.cause);
  record.pid = failure.pid;
  record.status = failure.status;
  const std::size_t length = std::min(failure.text.size(), record.text.size() - 1);
  std::memcpy(record.text.data(), failure.text.data(), length);
  record.text[length] = '\0';
  // SYNC failure. Release: pairs with read_failure(); the fields are visible with `ready`.
  record.state.store(shm::FailureState::ready, std::memory_order_release);
  fault_point("failure.recorded");
}

Failure read_failure(const shm::FailureRecord& record) {
  // Writing takes microseconds; a writer that died in between must not hang its readers.
  const auto patience = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  // SYNC failure. Acquire: pairs with record_failure().
  while (record.state.load(std::memory_order_acquire) != shm::FailureState::ready) {
    if (std::chrono::steady_clock::now() > patience) {
      return {shm::FailureKind::timeout, -1, PeerFailure::Cause::killed,
              "the group has failed, and the rank that was about to say why is gone"};
    }
    std::this_thread::yield();
  }
  const auto cause = std::min(record.cause, static_cast<std::uint32_t>(PeerFailure::Cause::killed));
  return {record.kind,
          record.rank,
          static_cast<PeerFailure::Cause>(cause),
          std::string(record.text.data(), strnlen(record.text.data(), record.text.size())),
          record.pid,
          record.status};
}

void throw_failure(const Failure& failure) {
  switch (failure.kind) {
    case shm::FailureKind::peer_failure:
      throw PeerFailure(failure.rank, failure.cause, failure.text, failure.pid, failure.status);
    case shm::FailureKind::mismatch:
      throw CollectiveMismatch(failure.text);
    case shm::FailureKind::damage:
      throw SegmentError(failure.text);
    case shm::FailureKind::timeout:
      break;
  }
  throw Timeout(failure.text);
}

}  // namespace tensorplay::distributed
