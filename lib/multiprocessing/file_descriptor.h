// Open files that close themselves.
#pragma once

#include <utility>

namespace tensorplay::multiprocessing {

// Owns one descriptor, or none. Closes it at the end of its life, in every process that holds a
// copy by fork.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    other.close();
    return *this;
  }
  ~FileDescriptor() { close(); }

  int get() const noexcept { return descriptor_; }
  bool is_open() const noexcept { return descriptor_ >= 0; }
  void close() noexcept;

 private:
  int descriptor_ = -1;
};

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
};

// A pipe whose ends don't outlive an exec. Throws std::system_error.
Pipe make_pipe();

}  // namespace tensorplay::multiprocessing
