// A name in /dev/shm for one test.
#pragma once

#include "lib/shm/segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <random>
#include <string>
#include <string_view>

namespace tensorplay::shm {

// A name that no other test has. What lies there is removed with this object.
class JobPlace {
 public:
  JobPlace() {
    // Process numbers would not do: sandboxes that share /dev/shm have the same ones.
    std::random_device random;
    name_ = Segment::name_of("test-" + std::to_string(random()) + "-" + std::to_string(random()));
  }
  ~JobPlace() { shm_unlink(name_.c_str()); }
  JobPlace(const JobPlace&) = delete;
  JobPlace& operator=(const JobPlace&) = delete;

  const std::string& name() const noexcept { return name_; }
  std::string path() const { return "/dev/shm/" + name_; }
  bool taken() const { return access(path().c_str(), F_OK) == 0; }

  // The memory that the file takes, 0 if there is none.
  std::size_t bytes_taken() const {
    struct stat status {};
    if (stat(path().c_str(), &status) != 0) return 0;
    return static_cast<std::size_t>(status.st_blocks) * 512;
  }

  // Puts somebody else's file there.
  void put(std::string_view content, std::size_t bytes, mode_t mode = 0600) const {
    const int file = shm_open(name_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    const bool written = write(file, content.data(), content.size()) >= 0 &&
                         ftruncate(file, static_cast<off_t>(bytes)) == 0 && fchmod(file, mode) == 0;
    close(file);
    if (!written) shm_unlink(name_.c_str());
  }

 private:
  std::string name_;
};

}  // namespace tensorplay::shm
