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

// A file beside `target`, open for writing and removed again unless it was moved to its target.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target)
      : path_(fmt::format("{}.{}.tmp", target.string(), ::getpid())),
        descriptor_(::open(path_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666)) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!is_open()) return;
    ::close(descriptor_);
    if (!moved_) ::unlink(path_.c_str());
  }

  bool is_open() const noexcept { return descriptor_ >= 0; }

  // These two give false and set errno where they fail.
  bool write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }
  bool move_to(const std::filesystem::path& target) {
    moved_ = ::fsync(descriptor_) == 0 && ::rename(path_.c_str(), target.c_str()) == 0;
    return moved_;
  }

 private:
  std::string path_;
  int descriptor_;
  bool moved_ = false;
};

}  // namespace

void require_writable(const std::filesystem::path& path, std::string_view option) {
  std::error_code ignored;
  if (!path.has_filename() || std::filesystem::is_directory(path, ignored)) {
    throw InvalidArgument(
        fmt::format("{} '{}' is a directory; give the name of a file", option, path.string()));
  }
  if (!TemporaryFile(path).is_open()) {
    throw InvalidArgument(
        fmt::format("{} '{}' can't be written ({}); choose a file in a folder that "
                    "exists and is yours to write",
                    option, path.string(), std::strerror(errno)));
  }
}

void write_atomically(const std::filesystem::path& path, std::string_view text) {
  TemporaryFile file(path);
  if (!file.is_open() || !file.write(text) || !file.move_to(path)) {
    throw InvalidArgument(
        fmt::format("'{}' couldn't be written: {}", path.string(), std::strerror(errno)));
  }
}

}  // namespace tensorplay::train
