#include "lib/distributed/failure.h"

#include "lib/base/fault_point.h"
#include "lib/sync/failure.h"
#include "lib/sync/liveness.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

namespace tensorplay::distributed {

using collectives::GroupMemory;

void record_failure(const GroupMemory& memory, const Failure& failure) noexcept {
  // A record that counts is read by others: left as it is.
  if (sync::has_failed(memory.header())) return;
  shm::FailureRecord& own = memory.own().failure;
  own.kind = failure.kind;
  own.rank = failure.rank;
  own.cause = static_cast<std::uint32_t>(failure.cause);
  own.pid = failure.pid;
  own.status = failure.status;
  const std::size_t length = std::min(failure.text.size(), own.text.size() - 1);
  std::memcpy(own.text.data(), failure.text.data(), length);
  own.text[length] = '\0';
  fault_point("failure.filled");
  sync::publish_failure(memory.header(), memory.self());
  fault_point("failure.recorded");
}

Failure read_failure(const GroupMemory& memory) {
  const std::uint32_t member = sync::failed_by(memory.header());
  // Of a member that never attached, the block may have no memory.
  if (member >= static_cast<std::uint32_t>(memory.size()) ||
      !sync::has_attached(memory.life(static_cast<int>(member)))) {
    return {shm::FailureKind::damage, -1, PeerFailure::Cause::exited,
            "the group has failed, but who says why is none of its members: the segment is "
            "damaged"};
  }
  const shm::FailureRecord& record = memory.member(static_cast<int>(member)).failure;
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
