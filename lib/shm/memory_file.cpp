#include "lib/shm/memory_file.h"

#include "lib/shm/process_lock.h"

#include <tensorplay/error.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

namespace tensorplay::shm {
namespace {

[[noreturn]] void fail(const std::string& what, int error) {
  throw SegmentError(what + ": " + std::strerror(error));
}

struct stat status_of(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) fail("can't examine the shared memory", errno);
  return status;
}

}  // namespace

MemoryFile MemoryFile::anonymous(std::size_t bytes) {
  const int descriptor = memfd_create("tensorplay", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (descriptor < 0) fail("can't make shared memory (memfd_create)", errno);
  MemoryFile file(descriptor, "");
  file.resize(bytes);
  // Nobody may shrink it: an access behind a new end would be a SIGBUS. Where seals are not
  // supported the memory is as good without.
  static_cast<void>(fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW));
  return file;
}

std::optional<MemoryFile> MemoryFile::create(const std::string& name) {
  const int descriptor = shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0 && errno == EEXIST) return std::nullopt;
  if (descriptor < 0) fail("can't make /dev/shm/" + name, errno);
  return MemoryFile(descriptor, name);
}

std::optional<MemoryFile> MemoryFile::open(const std::string& name) {
  // Without waiting: what lies there may be a FIFO. Links aren't followed by shm_open().
  const int descriptor = shm_open(name.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK, 0);
  if (descriptor < 0 && errno == ENOENT) return std::nullopt;
  if (descriptor < 0) {
    const bool is_forbidden = errno == EACCES || errno == EPERM;
    fail("/dev/shm/" + name + " is refused: it " +
             (is_forbidden ? "belongs to another user" : "can't be opened as a file") +
             "; choose another job name, or remove it",
         errno);
  }
  return MemoryFile(descriptor, name);
}

MemoryFile MemoryFile::open_for_reading(const std::string& path) {
  // Without waiting: what lies there may be a FIFO.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) fail("can't look into " + path, errno);
  return {descriptor, ""};
}

MemoryFile::MemoryFile(MemoryFile&& other) noexcept
    : descriptor_(other.descriptor_), name_(std::move(other.name_)) {
  other.descriptor_ = -1;
  other.name_.clear();
}

MemoryFile::~MemoryFile() {
  if (descriptor_ >= 0) close_descriptor(descriptor_);
}

boost::interprocess::mapping_handle_t MemoryFile::get_mapping_handle() const {
  return boost::interprocess::ipcdetail::mapping_handle_from_file_handle(descriptor_);
}

void MemoryFile::resize(std::size_t bytes) {
  // The kernel would send SIGXFSZ, which ends a process that isn't prepared for it.
  struct rlimit limit {};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes > limit.rlim_cur) {
    throw SegmentError("can't make shared memory of " + std::to_string(bytes) +
                       " bytes of address space: files of this process are limited to " +
                       std::to_string(limit.rlim_cur) +
                       " bytes; raise the limit (ulimit -f unlimited), or lower arena_bytes");
  }
  if (ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) {
    fail("can't make shared memory of " + std::to_string(bytes) + " bytes of address space", errno);
  }
}

std::size_t MemoryFile::bytes() const {
  return static_cast<std::size_t>(status_of(descriptor_).st_size);
}

unsigned MemoryFile::owner_uid() const {
  return status_of(descriptor_).st_uid;
}

bool MemoryFile::is_regular() const {
  return S_ISREG(status_of(descriptor_).st_mode);
}

bool MemoryFile::is_private() const {
  return (status_of(descriptor_).st_mode & 077) == 0;
}

bool MemoryFile::has_name() const {
  return status_of(descriptor_).st_nlink > 0;
}

void MemoryFile::read(std::size_t offset, std::span<std::byte> into) const {
  while (!into.empty()) {
    const ssize_t bytes = pread(descriptor_, into.data(), into.size(), static_cast<off_t>(offset));
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) fail("can't read the shared memory", errno);
    if (bytes == 0) break;
    into = into.subspan(static_cast<std::size_t>(bytes));
    offset += static_cast<std::size_t>(bytes);
  }
  std::ranges::fill(into, std::byte{0});
}

bool MemoryFile::has_data_at_begin() const noexcept {
  return lseek(descriptor_, 0, SEEK_DATA) == 0;
}

int MemoryFile::reserve(std::size_t offset, std::size_t bytes) const noexcept {
  int error = 0;
  do {
    error = posix_fallocate(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (error == EINTR);
  return error;
}

void MemoryFile::punch_hole(std::size_t offset, std::size_t bytes) const noexcept {
  static_cast<void>(fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                              static_cast<off_t>(offset), static_cast<off_t>(bytes)));
}

std::size_t MemoryFile::bytes_free() const noexcept {
  struct statfs status {};
  if (fstatfs(descriptor_, &status) != 0) return 0;
  // A memfd lives in a file system without a size.
  if (status.f_blocks == 0) return std::numeric_limits<std::size_t>::max();
  return static_cast<std::size_t>(status.f_bavail) * static_cast<std::size_t>(status.f_bsize);
}

bool MemoryFile::try_lock() const noexcept {
  return flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
}

void MemoryFile::unlock() const noexcept {
  static_cast<void>(flock(descriptor_, LOCK_UN));
}

bool MemoryFile::lock_byte(std::size_t offset) const {
  return shm::lock_byte(descriptor_, offset);
}

void MemoryFile::unlock_byte(std::size_t offset) const noexcept {
  shm::unlock_byte(descriptor_, offset);
}

bool MemoryFile::is_byte_locked(std::size_t offset) const noexcept {
  return shm::is_byte_locked(descriptor_, offset);
}

void MemoryFile::unlink() noexcept {
  if (name_.empty()) return;
  // Between the check and the removal nobody can put another file there: whoever replaces a file
  // holds the lock of the one that it replaces, and has removed its name first.
  if (fcntl(descriptor_, F_GETFD) >= 0) {
    struct stat status {};
    if (fstat(descriptor_, &status) == 0 && status.st_nlink > 0) shm_unlink(name_.c_str());
  }
  name_.clear();
}

}  // namespace tensorplay::shm
