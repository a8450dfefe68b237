// The texts of public values.
#include <tensorplay/distributed/collective_call.h>
#include <tensorplay/distributed/contributors.h>
#include <tensorplay/distributed/peer_failure_policy.h>
#include <tensorplay/distributed/streaming_stores.h>

namespace tensorplay::distributed {

const char* name(CollectiveKind kind) noexcept {
  switch (kind) {
    case CollectiveKind::barrier:
      return "barrier";
    case CollectiveKind::all_reduce:
      return "all_reduce";
    case CollectiveKind::reduce:
      return "reduce";
    case CollectiveKind::broadcast:
      return "broadcast";
    case CollectiveKind::all_gather:
      return "all_gather";
    case CollectiveKind::reduce_scatter:
      return "reduce_scatter";
    case CollectiveKind::gather:
      return "gather";
    case CollectiveKind::scatter:
      return "scatter";
    case CollectiveKind::all_to_all:
      return "all_to_all";
    case CollectiveKind::all_reduce_shared:
      return "all_reduce_shared";
  }
  return "unknown";
}

const char* name(CallPurpose purpose) noexcept {
  switch (purpose) {
    case CallPurpose::itself:
      return "";
    case CallPurpose::split:
      return "split()";
    case CallPurpose::model_check:
      return "DistributedDataParallel's model check";
    case CallPurpose::model_copy:
      return "DistributedDataParallel's model copy";
    case CallPurpose::buffer_copy:
      return "DistributedDataParallel's buffer copy";
    case CallPurpose::gradients:
      return "DistributedDataParallel's gradients";
    case CallPurpose::allocate_shared:
      return "allocate_shared()";
    case CallPurpose::deallocate_shared:
      return "deallocate_shared()";
  }
  return "";
}

const char* name(PeerFailurePolicy policy) noexcept {
  switch (policy) {
    case PeerFailurePolicy::raise:
      return "raise";
    case PeerFailurePolicy::continue_without:
      return "continue_without";
  }
  return "unknown";
}

const char* name(StreamingStores choice) noexcept {
  switch (choice) {
    case StreamingStores::automatic:
      return "auto";
    case StreamingStores::never:
      return "never";
    case StreamingStores::always:
      return "always";
  }
  return "unknown";
}

std::string to_string(const Contributors& ranks) {
  if (ranks.empty()) return "no rank";
  std::string text = ranks.count() == 1 ? "rank " : "ranks ";
  const char* separator = "";
  for (int rank = 0; rank <= ranks.highest(); ++rank) {
    if (!ranks.contains(rank)) continue;
    text += separator + std::to_string(rank);
    separator = ", ";
    int last = rank;
    while (ranks.contains(last + 1)) ++last;
    constexpr int kRunMin = 4;
    if (last - rank + 1 < kRunMin) continue;
    text += "-" + std::to_string(last);
    rank = last;
  }
  return text;
}

}  // namespace tensorplay::distributed
