#include "lib/shm/mapping.h"

#include <tensorplay/error.h>

#include <sys/mman.h>
#include <cerrno>
#include <cstring>
#include <string>

namespace tensorplay::shm {

namespace bip = boost::interprocess;

namespace {

[[noreturn]] void tell_no_room(std::size_t bytes, const char* reason) {
  throw SegmentError("can't map " + std::to_string(bytes) + " bytes of shared memory: " + reason +
                     "; lower arena_bytes, or raise the limit (ulimit -v)");
}

// No swap space is set aside for address space that may never be used.
bip::mapped_region map(const MemoryFile& file, std::size_t bytes) {
  try {
    return {file, bip::read_write, 0, bytes, nullptr, MAP_SHARED | MAP_NORESERVE};
  } catch (const bip::interprocess_exception& error) {
    tell_no_room(bytes, error.what());
  }
}

}  // namespace

Mapping::Mapping(const MemoryFile& file, std::size_t bytes)
    : region_(map(file, bytes)), begin_(static_cast<std::byte*>(region_.get_address())) {}

Mapping::Mapping(std::size_t bytes) : own_bytes_(bytes) {
  void* begin = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) tell_no_room(bytes, std::strerror(errno));
  begin_ = static_cast<std::byte*>(begin);
}

Mapping::~Mapping() {
  if (own_bytes_ != 0) munmap(begin_, own_bytes_);
}

}  // namespace tensorplay::shm
