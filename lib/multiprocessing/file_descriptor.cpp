#include "lib/multiprocessing/file_descriptor.h"

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <system_error>

namespace tensorplay::multiprocessing {

void FileDescriptor::close() noexcept {
  // Not again after EINTR: Linux has closed it all the same.
  if (is_open()) ::close(std::exchange(descriptor_, -1));
}

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe2");
  }
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

}  // namespace tensorplay::multiprocessing
