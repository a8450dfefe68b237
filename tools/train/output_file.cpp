#include "tools/train/output_file.h"

#include <tensorplay/error.h>

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <string>

namespace tensorplay::train {
namespace {

// Where writing to `path` would end: behind links.
std::filesystem::path followed(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
  return error ? path : target;
}

// A pipe, a device, a socket: nothing to be replaced.
bool is_special(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
         !std::filesystem::is_directory(status);
}

// False, with errno set, where it fails.
bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool write_in_place(const std::filesystem::path& path, std::string_view text) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool written = write_all(descriptor, text);
  const int error = errno;
  ::close(descriptor);
  errno = error;
  return written;
}

// A file in the folder of `target`, open for writing and gone again unless it was moved to its
// target. Without a name until then, where the file system can do that: nobody has to remove it,
// also if this process is killed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target)
      : path_(fmt::format("{}.{}.tmp", target.string(), ::getpid())),
        descriptor_(
            ::open((target.parent_path() / ".").c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666)),
        has_name_(!is_open()) {
    if (!has_name_) return;
    descriptor_ = ::open(path_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!is_open()) return;
    ::close(descriptor_);
    if (has_name_ && !moved_) ::unlink(path_.c_str());
  }

  bool is_open() const noexcept { return descriptor_ >= 0; }

  // These two give false and set errno where they fail.
  bool write(std::string_view text) { return write_all(descriptor_, text); }
  bool move_to(const std::filesystem::path& target) {
    moved_ =
        ::fsync(descriptor_) == 0 && take_name() && ::rename(path_.c_str(), target.c_str()) == 0;
    return moved_;
  }

 private:
  bool take_name() {
    if (has_name_) return true;
    const std::string self = fmt::format("/proc/self/fd/{}", descriptor_);
    has_name_ = ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) == 0;
    return has_name_;
  }

  std::string path_;
  int descriptor_;
  bool has_name_;
  bool moved_ = false;
};

}  // namespace

void require_different(const std::filesystem::path& path, std::string_view option,
                       const std::filesystem::path& other, std::string_view other_option) {
  if (path.empty() || other.empty() || is_special(path)) return;
  if (followed(path) != followed(other)) return;
  throw InvalidArgument(fmt::format("{} and {} both name '{}'; give each a file of its own", option,
                                    other_option, path.string()));
}

void require_writable(const std::filesystem::path& path, std::string_view option) {
  std::error_code ignored;
  if (!path.has_filename() || std::filesystem::is_directory(path, ignored)) {
    throw InvalidArgument(
        fmt::format("{} '{}' is a directory; give the name of a file", option, path.string()));
  }
  const bool can_write = is_special(path) ? ::access(path.c_str(), W_OK) == 0
                                          : TemporaryFile(followed(path)).is_open();
  if (!can_write) {
    throw InvalidArgument(
        fmt::format("{} '{}' can't be written ({}); choose a file in a folder that "
                    "exists and is yours to write",
                    option, path.string(), std::strerror(errno)));
  }
}

void write_atomically(const std::filesystem::path& path, std::string_view text) {
  const auto replaced = [&] {
    const std::filesystem::path target = followed(path);
    TemporaryFile file(target);
    return file.is_open() && file.write(text) && file.move_to(target);
  };
  if (!(is_special(path) ? write_in_place(path, text) : replaced())) {
    throw InvalidArgument(
        fmt::format("'{}' couldn't be written: {}", path.string(), std::strerror(errno)));
  }
}

}  // namespace tensorplay::train
