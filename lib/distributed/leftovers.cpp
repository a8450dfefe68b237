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

// A copy of a segment's file has mutexes that nobody marks any more, but no process has its locks:
// they belong to the file, not to what is in it. A rank takes its lock before it shows that it is
// there, and shows that it is gone before it gives the lock up.
bool is_there(const shm::Segment& segment, int rank) noexcept {
  const sync::Vitality vitality = sync::vitality(segment, rank);
  const bool seems = vitality == sync::Vitality::alive || vitality == sync::Vitality::exiting;
  return seems && segment.is_rank_locked(rank);
}

}  // namespace

bool is_leftover(const shm::Segment& segment) {
  for (int rank = 0; rank < segment.world_size(); ++rank) {
    if (is_there(segment, rank)) return false;
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
