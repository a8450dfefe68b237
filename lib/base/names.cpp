// The texts of public values.
#include <tensorplay/distributed/collective_call.h>
#include <tensorplay/distributed/contributors.h>
#include <tensorplay/distributed/peer_failure_policy.h>

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
  }
  return "unknown";
}

const char* name(CallPurpose purpose) noexcept {
  switch (purpose) {
    case CallPurpose::itself:
      return "";
    case CallPurpose::split:
      return "split";
    case CallPurpose::model_check:
      return "DistributedDataParallel: comparing the models";
    case CallPurpose::model_copy:
      return "DistributedDataParallel: copying the model";
    case CallPurpose::buffer_copy:
      return "DistributedDataParallel: copying buffers";
    case CallPurpose::gradients:
      return "DistributedDataParallel: gradients";
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

std::string to_string(const Contributors& ranks) {
  if (ranks.empty()) return "no rank";
  std::string text = ranks.count() == 1 ? "rank " : "ranks ";
  const char* separator = "";
  ranks.for_each([&](int rank) {
    text += separator + std::to_string(rank);
    separator = ", ";
  });
  return text;
}

}  // namespace tensorplay::distributed
