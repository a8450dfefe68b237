// One group's part of the segment, as one of its members sees it.
#pragma once

#include "lib/shm/segment.h"

#include <tensorplay/distributed/contributors.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace tensorplay::collectives {

using MemberSet = distributed::Contributors;

// The addresses of a group's blocks in this mapping, looked up once. Used by one thread.
class GroupMemory {
 public:
  // `world_ranks[m]` is the rank in the job of member m; `self` is the calling member.
  GroupMemory(std::shared_ptr<shm::Segment> segment, int slot, int self,
              std::vector<int> world_ranks);

  const shm::Segment& segment() const noexcept { return *segment_; }
  const std::shared_ptr<shm::Segment>& shared_segment() const noexcept { return segment_; }
  int slot() const noexcept { return slot_; }
  int self() const noexcept { return self_; }
  int size() const noexcept { return static_cast<int>(world_ranks_.size()); }
  int world_rank(int member) const noexcept {
    return world_ranks_[static_cast<std::size_t>(member)];
  }

  shm::GroupHeader& header() const noexcept { return *header_; }
  shm::MemberBlock& member(int m) const noexcept { return *members_[static_cast<std::size_t>(m)]; }
  shm::MemberBlock& own() const noexcept { return member(self_); }
  // The staging buffer of member m for round k.
  std::byte* staging(int m, std::uint64_t k) const noexcept {
    return staging_[static_cast<std::size_t>(m)] + k % shm::kStagingBuffers * shm::kChunkBytes;
  }
  shm::Life& life(int m) const noexcept { return segment_->rank_block(world_rank(m)).life; }

  // Wakes who waits for this rank. Call it after a publication.
  void ring() const noexcept;

 private:
  std::shared_ptr<shm::Segment> segment_;
  int slot_;
  int self_;
  std::vector<int> world_ranks_;
  shm::GroupHeader* header_;
  std::vector<shm::MemberBlock*> members_;
  std::vector<std::byte*> staging_;
};

}  // namespace tensorplay::collectives
