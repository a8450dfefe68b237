#include "lib/shm/process_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <list>
#include <mutex>
#include <vector>

namespace tensorplay::shm {
namespace {

// A file on which this process has locks. While it has, one of the file's descriptors is open, so
// that the two numbers are no other file's.
struct LockedFile {
  pid_t process;  // that took the locks: a forked child inherits this entry, but not the locks
  dev_t device;
  ino_t inode;
  std::vector<std::size_t> offsets;
  std::vector<int> to_be_closed;
};

// Never destroyed: objects with descriptors may be.
struct LockedFiles {
  std::mutex mutex;
  std::list<LockedFile> files;
};

LockedFiles& locked_files() {
  static auto& files = *new LockedFiles;
  return files;
}

// For callers that hold the mutex: null if this process has no lock on the descriptor's file.
LockedFile* find(std::list<LockedFile>& files, int descriptor) noexcept {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return nullptr;
  const auto found = std::find_if(files.begin(), files.end(), [&](const LockedFile& file) {
    return file.process == getpid() && file.device == status.st_dev && file.inode == status.st_ino;
  });
  return found == files.end() ? nullptr : &*found;
}

bool has_offset(const LockedFile* file, std::size_t offset) noexcept {
  return file != nullptr &&
         std::find(file->offsets.begin(), file->offsets.end(), offset) != file->offsets.end();
}

bool apply(int descriptor, int command, struct flock& lock) noexcept {
  return fcntl(descriptor, command, &lock) == 0;
}

struct flock lock_of(short type, std::size_t offset) noexcept {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(offset);
  lock.l_len = 1;
  return lock;
}

// What this process inherited by fork. Closing its own copies of the descriptors ends nobody's
// locks.
void forget_inherited(std::list<LockedFile>& files) noexcept {
  files.remove_if([](const LockedFile& file) {
    if (file.process == getpid()) return false;
    for (const int descriptor : file.to_be_closed) close(descriptor);
    return true;
  });
}

void note_lock(std::list<LockedFile>& files, int descriptor, std::size_t offset) {
  LockedFile* file = find(files, descriptor);
  if (file == nullptr) {
    struct stat status {};
    fstat(descriptor, &status);
    file = &files.emplace_back(LockedFile{getpid(), status.st_dev, status.st_ino, {}, {}});
  }
  file->offsets.push_back(offset);
}

}  // namespace

bool lock_byte(int descriptor, std::size_t offset) {
  LockedFiles& locked = locked_files();
  const std::lock_guard guard(locked.mutex);
  forget_inherited(locked.files);
  // The system would give it to the same process twice.
  if (has_offset(find(locked.files, descriptor), offset)) return false;
  struct flock lock = lock_of(F_WRLCK, offset);
  if (!apply(descriptor, F_SETLK, lock)) return false;
  note_lock(locked.files, descriptor, offset);
  return true;
}

void unlock_byte(int descriptor, std::size_t offset) noexcept {
  LockedFiles& locked = locked_files();
  const std::lock_guard guard(locked.mutex);
  LockedFile* file = find(locked.files, descriptor);
  if (!has_offset(file, offset)) return;
  struct flock lock = lock_of(F_UNLCK, offset);
  apply(descriptor, F_SETLK, lock);
  std::erase(file->offsets, offset);
  if (!file->offsets.empty()) return;
  for (const int later : file->to_be_closed) close(later);
  locked.files.remove_if([file](const LockedFile& other) { return &other == file; });
}

bool is_byte_locked(int descriptor, std::size_t offset) noexcept {
  struct flock lock = lock_of(F_WRLCK, offset);
  if (!apply(descriptor, F_GETLK, lock) || lock.l_type != F_UNLCK) return true;
  // The system doesn't tell a process of its own locks.
  LockedFiles& locked = locked_files();
  const std::lock_guard guard(locked.mutex);
  return has_offset(find(locked.files, descriptor), offset);
}

void close_descriptor(int descriptor) noexcept {
  LockedFiles& locked = locked_files();
  const std::lock_guard guard(locked.mutex);
  forget_inherited(locked.files);
  if (LockedFile* file = find(locked.files, descriptor)) {
    file->to_be_closed.push_back(descriptor);
  } else {
    close(descriptor);
  }
}

}  // namespace tensorplay::shm
