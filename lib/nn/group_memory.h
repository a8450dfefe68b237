// Memory for what goes through a group's collectives.
#pragma once

#include <tensorplay/distributed/process_group.h>

#include <cstddef>
#include <span>
#include <vector>

namespace tensorplay::nn {

// `count` floats, zero at first. They lie in the group's shared memory, where collectives copy
// nothing in, or in ordinary memory when there's no room left: slower, with the same results. Also
// where the death of a peer is survived: there collectives copy everything in, and need the room.
class GroupMemory {
 public:
  GroupMemory(const distributed::ProcessGroup& group, std::size_t count);
  ~GroupMemory();
  GroupMemory(const GroupMemory&) = delete;
  GroupMemory& operator=(const GroupMemory&) = delete;

  std::span<float> floats() const noexcept { return floats_; }

  // Gives the memory up without freeing it: for an operation that can still touch it.
  void abandon() noexcept;

 private:
  distributed::ProcessGroup group_;
  std::span<float> floats_;
  bool shared_ = false;
};

}  // namespace tensorplay::nn
