#include "lib/distributed/failure.h"

#include "lib/base/fault_point.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>

namespace tensorplay::distributed {
namespace {

// Beyond every member: what a damaged record may name.
constexpr std::uint32_t kNobody = kRankCountMax;

shm::FailureState written_by(int writer) noexcept {
  return static_cast<shm::FailureState>(1 + static_cast<std::uint32_t>(writer));
}

Failure recorded(const shm::FailureRecord& record) {
  const auto cause = std::min(record.cause, static_cast<std::uint32_t>(PeerFailure::Cause::killed));
  return {record.kind,
          record.rank,
          static_cast<PeerFailure::Cause>(cause),
          std::string(record.text.data(), strnlen(record.text.data(), record.text.size())),
          record.pid,
          record.status};
}

}  // namespace

void record_failure(shm::FailureRecord& record, int writer, const Failure& failure) noexcept {
  auto expected = shm::FailureState::none;
  // SYNC failure. Release: pairs with has_failed(), for those who see that it's being written.
  // Relaxed on failure: another rank's record counts.
  if (!record.state.compare_exchange_strong(expected, written_by(writer), std::memory_order_release,
                                            std::memory_order_relaxed)) {
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

Failure read_failure(const shm::FailureRecord& record,
                     const std::function<std::optional<Failure>(int writer)>& end_of) {
  // Writing takes microseconds, unless the writer is stopped in between.
  const auto patience = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  for (;;) {
    // SYNC failure. Acquire: pairs with record_failure().
    const auto state = record.state.load(std::memory_order_acquire);
    if (state == shm::FailureState::ready) return recorded(record);
    const auto writer = static_cast<std::uint32_t>(state) - 1;
    // Its end first, then the record once more: it may have been written in between.
    const auto end = end_of(static_cast<int>(std::min(writer, kNobody)));
    // SYNC failure. Acquire: pairs with record_failure().
    if (end && record.state.load(std::memory_order_acquire) == state) return *end;
    if (std::chrono::steady_clock::now() > patience) {
      return {shm::FailureKind::timeout, -1, PeerFailure::Cause::killed,
              "the group has failed, and rank " + std::to_string(writer) +
                  ", which was about to say why, doesn't go on. Find out what has stopped it"};
    }
    std::this_thread::yield();
  }
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
