// A file in memory, open in this process: what a segment is made of.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include <boost/interprocess/detail/os_file_functions.hpp>
#include <boost/interprocess/interprocess_fwd.hpp>

namespace tensorplay::shm {

// Owns one file descriptor of a memory file, and knows its name if it has one. Move-only.
// Satisfies Boost.Interprocess' MemoryMappable, so that a mapped_region can map it.
class MemoryFile {
 public:
  // A memfd: no name, gone with its last user. Throws SegmentError.
  static MemoryFile anonymous(std::size_t bytes);
  // A new file /dev/shm/<name>, mode 0600, empty; nothing if one exists already. SegmentError for
  // everything else.
  static std::optional<MemoryFile> create(const std::string& name);
  // The file /dev/shm/<name>; nothing if there is none. SegmentError for everything else.
  static std::optional<MemoryFile> open(const std::string& name);

  // The file at `path`, wherever that is, to look into: nothing can be changed through it. Throws
  // SegmentError.
  static MemoryFile open_for_reading(const std::string& path);

  MemoryFile(MemoryFile&& other) noexcept;
  MemoryFile& operator=(MemoryFile&& other) = delete;
  ~MemoryFile();

  boost::interprocess::mapping_handle_t get_mapping_handle() const;
  boost::interprocess::mode_t get_mode() const { return boost::interprocess::read_write; }

  // Throws SegmentError, also where a limit of this process (ulimit -f) is in the way.
  void resize(std::size_t bytes);
  std::size_t bytes() const;
  // Whether it is a plain file, who owns it, and whether nobody else may read it.
  bool is_regular() const;
  unsigned owner_uid() const;
  bool is_private() const;
  // Whether the file still has its name: false once anybody has removed it.
  bool has_name() const;

  // Copies what lies at `offset`; zeros where nothing was ever written, which takes no memory
  // there, and where the file has ended. Throws SegmentError.
  void read(std::size_t offset, std::span<std::byte> into) const;

  // Whether anything was ever written to, or reserved for, the first page.
  bool has_data_at_begin() const noexcept;

  // Takes memory for the range now. Returns 0 or an errno value.
  int reserve(std::size_t offset, std::size_t bytes) const noexcept;
  // Gives the range's memory back; it reads as zero afterwards. Whole pages.
  void punch_hole(std::size_t offset, std::size_t bytes) const noexcept;
  // Bytes that can still be taken from where this file lives.
  std::size_t bytes_free() const noexcept;

  // Takes the lock of whoever makes or removes the file; false if another process has it. Ends with
  // this object.
  bool try_lock() const noexcept;
  void unlock() const noexcept;

  // The locks that tell whether processes live: see process_lock.h.
  bool lock_byte(std::size_t offset) const;
  void unlock_byte(std::size_t offset) const noexcept;
  bool is_byte_locked(std::size_t offset) const noexcept;

  // Removes the name, if it is still this file's. Idempotent.
  void unlink() noexcept;
  const std::string& name() const noexcept { return name_; }

 private:
  MemoryFile(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {}

  int descriptor_;
  std::string name_;  // empty: anonymous, or unlinked
};

}  // namespace tensorplay::shm
