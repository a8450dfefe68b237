// Memory in which a rank keeps what it contributes to large operations, until all have read it.
#pragma once

#include "lib/collectives/group_memory.h"
#include "lib/distributed/arena.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

namespace tensorplay::distributed {

// One vault; see collectives/vaulted_run.h for what lies in it.
struct Vault {
  std::byte* memory = nullptr;
  std::size_t bytes = 0;
  bool in_use = false;  // by an operation that isn't done
  // Who may still be reading it: these, until they have consumed operation `number`.
  collectives::MemberSet readers;
  std::uint64_t number = 0;
};

// The vaults of one group on one rank. They lie in the rank's arena and are used again and again:
// fresh pages would cost more than the copy. Given back with the group, except those that somebody
// may still read. Used by one thread.
//
// One vault is enough for operations to go on: each waits until the last one has been read. Further
// ones let operations overlap, and are only taken from what no other rank can need for its first:
// of the rank's fair share of the memory (SegmentHeader::share_bytes) one half, so that the other
// half remains for new groups and allocate(). Who must not find the memory gone reserves it.
class Vaults {
 public:
  // `lost`: members for which nobody waits any more. All three outlive this.
  Vaults(Arena& arena, const collectives::GroupMemory& memory,
         const collectives::MemberSet& lost) noexcept
      : arena_(arena), memory_(memory), lost_(lost) {}
  ~Vaults();
  Vaults(const Vaults&) = delete;
  Vaults& operator=(const Vaults&) = delete;

  // A vault of at least that size; null if there is no room until others have read theirs. Throws
  // SegmentError if there is no room at all.
  Vault* take(std::size_t bytes);
  // The operation is done here; `readers` read the vault until they have consumed it. With nobody:
  // the operation was never posted, or had no other participant.
  static void give_back(Vault& vault, std::uint64_t number,
                        const collectives::MemberSet& readers) noexcept;

  // From here to release() a vault of that size is there: never given back before, whoever asks for
  // memory. Throws SegmentError if there is no room.
  void reserve(std::size_t bytes);
  void release(std::size_t bytes) noexcept;

  // Gives the memory of all free vaults back, but for what is reserved; whether there were any.
  bool discard_free() noexcept;

  // Whether a vault can't be used again before the member has consumed what lies in it.
  bool awaits(int member) const noexcept;

 private:
  bool is_free(const Vault& vault) const noexcept;
  bool is_read_by(const Vault& vault, int member) const noexcept;
  Vault* smallest_free(std::size_t bytes) noexcept;
  Vault* grow(std::size_t bytes);
  Vault* add(std::size_t bytes);
  bool within_share(std::size_t bytes) const noexcept;
  const Vault* reserved_one() const noexcept;

  Arena& arena_;
  const collectives::GroupMemory& memory_;
  const collectives::MemberSet& lost_;
  std::vector<std::unique_ptr<Vault>> vaults_;
  std::multiset<std::size_t> reserved_;
};

}  // namespace tensorplay::distributed
