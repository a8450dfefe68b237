// Memory set aside for the large operations of a user who knows them beforehand.
#pragma once

#include <tensorplay/distributed/collective_call.h>
#include <tensorplay/distributed/process_group.h>

#include <cstddef>
#include <string>
#include <vector>

namespace tensorplay::distributed {

// Where a peer's death is survived a large contribution is copied into a vault (vaults.h). As long
// as this lives every rank has one for each of the calls that were named: so none of these can fail
// for lack of memory, whatever else the job or the machine uses. Nothing where deaths aren't
// survived, or for operations that need no vault. Used as its group is.
class VaultReservation {
 public:
  // Collective: all ranks pass calls of the same kinds and counts. Throws SegmentError, with the
  // same text on all ranks, if one of them finds no memory: the bytes wanted, the bytes free, the
  // remedy. The group stays whole then. `user` is who makes the calls.
  VaultReservation(const ProcessGroup& group, const std::vector<CollectiveCall>& calls,
                   const std::string& user);
  ~VaultReservation();
  VaultReservation(const VaultReservation&) = delete;
  VaultReservation& operator=(const VaultReservation&) = delete;

 private:
  VaultReservation(const ProcessGroup& group, std::size_t bytes) noexcept
      : group_(group), bytes_(bytes) {}

  void give_back();
  std::string lack();
  std::string first_lack(const std::string& own);

  ProcessGroup group_;
  std::size_t bytes_;  // 0: none is needed
  bool reserved_ = false;
};

}  // namespace tensorplay::distributed
