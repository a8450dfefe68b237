#include "lib/shm/header_check.h"

#include <tensorplay/error.h>

#include <unistd.h>

namespace tensorplay::shm {
namespace {

constexpr const char* kRemedy = "remove the file, or choose another job name";

void check_choices(const SegmentHeader& header, const std::string& path) {
  if (header.on_peer_failure > distributed::PeerFailurePolicy::continue_without) {
    refuse(path, "its header can't be right: no such policy for peer failures", kRemedy);
  }
  if (header.streaming_stores > distributed::StreamingStores::always) {
    refuse(path, "its header can't be right: no such choice of streaming stores", kRemedy);
  }
}

Geometry told_geometry(const SegmentHeader& header, const std::string& path) {
  try {
    return Geometry::of(static_cast<int>(header.world_size), header.arena_bytes);
  } catch (const InvalidArgument& error) {
    refuse(path, std::string("its header can't be right: ") + error.what(), kRemedy);
  }
}

}  // namespace

void refuse(const std::string& path, const std::string& reason, const std::string& remedy) {
  throw SegmentError(path + " is refused: " + reason + "; " + remedy);
}

void check_owner(const MemoryFile& file, const std::string& path) {
  const char* reason = !file.is_regular()              ? "it isn't a plain file"
                       : file.owner_uid() != geteuid() ? "it belongs to another user"
                       : !file.is_private()            ? "others than its owner may use it"
                                                       : nullptr;
  if (reason != nullptr) refuse(path, reason, "choose another job name, or remove the file");
}

Geometry checked_geometry(const SegmentHeader& header, const std::string& path,
                          std::size_t file_bytes) {
  if (header.magic != kMagic) refuse(path, "it isn't a segment of this library", kRemedy);
  if (header.layout_version != kLayoutVersion) {
    refuse(path,
           "its layout has version " + std::to_string(header.layout_version) + ", this program's " +
               std::to_string(kLayoutVersion),
           "start all ranks with the same version of the program");
  }
  const Geometry geometry = told_geometry(header, path);
  check_choices(header, path);
  if (header.segment_bytes != geometry.segment_bytes || file_bytes != geometry.segment_bytes) {
    refuse(path,
           "its size is " + std::to_string(file_bytes) + " bytes instead of " +
               std::to_string(geometry.segment_bytes),
           kRemedy);
  }
  return geometry;
}

}  // namespace tensorplay::shm
