#include "lib/distributed/vault_reservation.h"

#include "lib/collectives/chunk_plan.h"
#include "lib/collectives/vaulted_run.h"
#include "lib/distributed/group_engine.h"

#include <tensorplay/error.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <span>

namespace tensorplay::distributed {
namespace {

// What a rank tells the others: short enough to need no vault itself.
constexpr std::size_t kTextBytes = 512;

std::size_t bytes_for(const ProcessGroup& group, const std::vector<CollectiveCall>& calls) {
  if (group.size() == 1 || group.on_peer_failure() == PeerFailurePolicy::raise) return 0;
  std::size_t most = 0;
  for (const CollectiveCall& call : calls) {
    const auto shape = collectives::Shape::of(call, group.size());
    if (collectives::algorithm_for(shape) != collectives::Algorithm::large) continue;
    most = std::max(most, collectives::vault_bytes(shape));
  }
  return most;
}

}  // namespace

VaultReservation::VaultReservation(const ProcessGroup& group,
                                   const std::vector<CollectiveCall>& calls,
                                   const std::string& user)
    : VaultReservation(group, bytes_for(group, calls)) {
  if (bytes_ == 0) return;
  std::string own = lack();
  std::string told = first_lack(own);
  if (!told.empty()) {
    // What others keep of earlier operations may be what one lacks.
    give_back();
    group_.barrier();
    if (!own.empty()) own = lack();
    told = first_lack(own);
  }
  if (told.empty()) return;
  throw SegmentError(user + ": so that the others can go on should a rank die, each of the " +
                     std::to_string(group_.size()) + " ranks needs " + std::to_string(bytes_) +
                     " bytes of shared memory, " +
                     std::to_string(static_cast<std::size_t>(group_.size()) * bytes_) +
                     " together, for its largest operation. " + told);
}

VaultReservation::~VaultReservation() {
  if (!reserved_) return;
  try {
    const UseGuard guard(group_.engine().job());
    group_.engine().vaults().release(bytes_);
  } catch (const Error&) {
    // A forked child: the memory isn't its own.
  }
}

void VaultReservation::give_back() {
  const UseGuard guard(group_.engine().job());
  group_.engine().job().reclaim();
}

// What this rank can't have, "" once it has it.
std::string VaultReservation::lack() {
  try {
    const UseGuard guard(group_.engine().job());
    group_.engine().vaults().reserve(bytes_);
    reserved_ = true;
    return "";
  } catch (const SegmentError& error) {
    return error.what();
  }
}

// What the lowest rank that lacks memory says; "" if none does.
std::string VaultReservation::first_lack(const std::string& own) {
  std::vector<std::uint8_t> text(kTextBytes);
  std::copy_n(own.begin(), std::min(own.size(), kTextBytes - 1), text.begin());
  std::vector<std::uint8_t> texts(kTextBytes * static_cast<std::size_t>(group_.size()));
  group_.all_gather(std::span<const std::uint8_t>(text), std::span(texts));
  for (int rank = 0; rank < group_.size(); ++rank) {
    const auto* begin =
        reinterpret_cast<const char*>(texts.data()) + static_cast<std::size_t>(rank) * kTextBytes;
    if (*begin == 0) continue;
    return "Rank " + std::to_string(rank) + ": " + std::string(begin, strnlen(begin, kTextBytes));
  }
  return "";
}

}  // namespace tensorplay::distributed
