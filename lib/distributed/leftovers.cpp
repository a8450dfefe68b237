#include "lib/distributed/leftovers.h"

#include "lib/sync/liveness.h"

#include <tensorplay/error.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace tensorplay::distributed {
namespace {

void remove_if_leftover(const std::string& name) {
  try {
    const auto segment = shm::Segment::open_named(name);
    if (segment && is_leftover(*segment)) segment->unlink_name();
  } catch (const Error&) {
    // Not a segment of this version, or not ours: none of our business.
  }
}

}  // namespace

bool is_leftover(const shm::Segment& segment) {
  for (int rank = 0; rank < segment.world_size(); ++rank) {
    const sync::Vitality vitality = sync::vitality(segment, rank);
    if (vitality == sync::Vitality::alive || vitality == sync::Vitality::exiting) return false;
  }
  return true;
}

void remove_leftovers() noexcept {
  try {
    const std::string prefix = shm::Segment::name_of("");
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", ignored)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(prefix)) remove_if_leftover(name);
    }
  } catch (...) {
    // Tidying is a favour to others: a start must not fail by it.
  }
}

}  // namespace tensorplay::distributed
