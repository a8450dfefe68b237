#include "lib/distributed/engine_directory.h"

#include "lib/distributed/group_engine.h"

#include <map>
#include <mutex>

namespace tensorplay::distributed {
namespace {

struct Directory {
  std::mutex mutex;
  std::uint64_t last_number = 0;
  std::map<std::uint64_t, GroupEngine*> engines;
};

// Never destroyed: a group may be given up after the static objects.
Directory& directory() {
  static auto& the_one = *new Directory;
  return the_one;
}

}  // namespace

std::uint64_t enter_engine(GroupEngine& engine) {
  const std::lock_guard lock(directory().mutex);
  const std::uint64_t number = ++directory().last_number;
  directory().engines.emplace(number, &engine);
  return number;
}

void remove_engine(std::uint64_t number) noexcept {
  const std::lock_guard lock(directory().mutex);
  directory().engines.erase(number);
}

std::shared_ptr<GroupEngine> find_engine(std::uint64_t number) {
  const std::lock_guard lock(directory().mutex);
  const auto found = directory().engines.find(number);
  // An engine on its way to its end is still here, but nobody's any more.
  return found == directory().engines.end() ? nullptr : found->second->weak_from_this().lock();
}

}  // namespace tensorplay::distributed
