// The groups of this process by a number, for those who must not keep them alive and can't afford
// to count references.
#pragma once

#include <cstdint>
#include <memory>

namespace tensorplay::distributed {

class GroupEngine;

// A number of the engine's own, never given again in this process. Any thread.
std::uint64_t enter_engine(GroupEngine& engine);
void remove_engine(std::uint64_t number) noexcept;
// Null once the engine has been given up.
std::shared_ptr<GroupEngine> find_engine(std::uint64_t number);

}  // namespace tensorplay::distributed
