#include "tools/tprun/job.h"

#include <sys/stat.h>
#include <unistd.h>
#include <cstdio>
#include <random>

namespace tensorplay::tprun {

std::string random_job_name() {
  std::random_device device;
  std::string name;
  for (int word = 0; word < 4; ++word) {
    char digits[9];
    std::snprintf(digits, sizeof(digits), "%08x", device());
    name += digits;
  }
  return name;
}

void remove_leftover(const std::string& job) noexcept {
  const std::string path = "/dev/shm/tensorplay-" + std::to_string(::geteuid()) + "-" + job;
  struct stat status;
  if (::lstat(path.c_str(), &status) != 0) return;
  if (S_ISREG(status.st_mode) && status.st_uid == ::geteuid()) ::unlink(path.c_str());
}

}  // namespace tensorplay::tprun
