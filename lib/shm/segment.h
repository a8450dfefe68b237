// The memory that the processes of a job share: making it, finding it, mapping it.
//
// Ranks that are forked get *anonymous* memory, which is mapped before the fork and has no name.
// Ranks that are started apart meet at a *named* segment, /dev/shm/tensorplay-<uid>-<job>, whose
// name is removed as soon as all have attached. The two are the same inside: see layout.h.
#pragma once

#include "lib/shm/layout.h"

#include <tensorplay/distributed/peer_failure_policy.h>
#include <tensorplay/distributed/streaming_stores.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tensorplay::shm {

class Mapping;
class MemoryFile;

struct SegmentOptions {
  int world_size = 0;
  std::size_t arena_bytes = 0;  // per rank; rounded up to whole pages
  distributed::PeerFailurePolicy on_peer_failure = distributed::PeerFailurePolicy::raise;
  std::uint64_t launch = 0;  // see SegmentHeader
  distributed::StreamingStores streaming_stores = distributed::StreamingStores::automatic;
};

// One mapping of a segment into this process. Shared by the ranks that live in this process (one,
// but in tests); unmapped with its last owner. All members may be used by several threads.
class Segment {
 public:
  // Makes anonymous memory and maps it. Throws SegmentError.
  static std::shared_ptr<Segment> create_anonymous(const SegmentOptions& options);

  // Makes the segment of that name and maps it; nothing if the name is taken. Others see it once
  // publish() has been called: until then it is locked. Throws SegmentError.
  static std::shared_ptr<Segment> create_named(const std::string& name,
                                               const SegmentOptions& options);
  // Maps the segment of that name, whatever options it was made for; nothing if there is none, or
  // if it isn't published yet. What a dead process left unpublished is removed. Throws
  // SegmentError, with the reason, for a file that isn't a segment of ours.
  static std::shared_ptr<Segment> open_named(const std::string& name);
  // A copy, taken at this moment, of the control blocks of the segment in the file at `path`: what
  // its ranks tell, without their staging buffers, posts and arenas, which must not be touched. For
  // viewers: it takes no memory of the segment's, changes nothing in it, and can't be hurt by what
  // becomes of the file. Words that change while they are copied may be torn apart from each other.
  // The locks of ranks are asked about in the file itself. Throws SegmentError, with the reason,
  // for a file that isn't a published segment of this user's and version.
  static std::shared_ptr<Segment> copy_of(const std::string& path);
  // Throws SegmentError, with the reason, for a segment that was made for other options.
  void expect(const SegmentOptions& options) const;
  // The name of a job's segment, without the folder: tensorplay-<uid>-<job>.
  static std::string name_of(const std::string& job_name);

  // Lets others see a segment that create_named() made.
  void publish() noexcept;

  // Maps the same memory once more, at another address.
  std::shared_ptr<Segment> map_again() const;

  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  SegmentHeader& header() const noexcept { return *header_; }
  const Geometry& geometry() const noexcept { return geometry_; }
  int world_size() const noexcept { return geometry_.world_size; }

  RankBlock& rank_block(int rank) const noexcept;
  // A group's memory, by slot 0 ... kGroupCountMax-1 and member.
  GroupHeader& group_header(int slot) const noexcept;
  MemberBlock& member_block(int slot, int member) const noexcept;
  std::span<std::byte> staging(int slot, int member) const noexcept;
  std::span<std::byte> group_memory(int slot) const noexcept;
  std::span<std::byte> arena(int rank) const noexcept;

  // The lock by which a process shows that it is there for `rank`: taken once, by one process; ends
  // with that process, with its execve(), or by unlock_rank(). See process_lock.h. lock_rank() is
  // false if it's taken.
  bool lock_rank(int rank) const;
  void unlock_rank(int rank) const noexcept;
  bool is_rank_locked(int rank) const noexcept;

  // Offsets are how ranks tell each other places. offset_of() gives 0 for an address outside.
  std::size_t offset_of(const void* address) const noexcept;
  std::byte* at(std::size_t offset) const noexcept;

  // Takes memory for the range now, so that no later access can fail. Throws SegmentError with the
  // bytes wanted and free, and whose limit it is: /dev/shm's, a memory cgroup's, the machine's.
  void reserve(std::span<std::byte> range, std::string_view purpose) const;
  // Gives the whole pages inside `range` back; they read as zero afterwards.
  void release(std::span<std::byte> range) const noexcept;

  // Throws SegmentError if another process has cut the file. Anonymous memory is sealed against
  // that. Files with names can't be, as long as anybody can find them: whoever is the same user
  // could do it, as he could kill the ranks. A rank that touches what is gone gets a SIGBUS.
  void expect_whole() const;

  // Removes the name: all have attached, or all that ever had are dead. False if another process is
  // at the same. Idempotent; does nothing for anonymous memory.
  bool unlink_name() noexcept;

 private:
  Segment(std::shared_ptr<MemoryFile> file, std::unique_ptr<Mapping> mapping,
          const Geometry& geometry);
  static std::shared_ptr<Segment> map(std::shared_ptr<MemoryFile> file, const Geometry& geometry);
  void copy_control_blocks() const;
  std::string path() const;
  static std::shared_ptr<Segment> make(std::shared_ptr<MemoryFile> file, const Geometry& geometry,
                                       const SegmentOptions& options);
  std::size_t bytes_to_start() const noexcept;
  void expect_room_to_start() const;
  std::size_t fair_share() const noexcept;

  std::shared_ptr<MemoryFile> file_;
  std::unique_ptr<Mapping> mapping_;
  SegmentHeader* header_ = nullptr;
  Geometry geometry_;
};

}  // namespace tensorplay::shm
