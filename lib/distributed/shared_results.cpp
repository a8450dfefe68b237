#include "lib/distributed/shared_results.h"

#include <tensorplay/error.h>

#include <algorithm>
#include <functional>
#include <string>

namespace tensorplay::distributed {
namespace {

// How far behind the block's beginning the range lies, if it is wholly in the block.
std::optional<std::size_t> offset_within(std::span<const std::byte> block, const void* memory,
                                         std::size_t bytes) noexcept {
  const auto* begin = static_cast<const std::byte*>(memory);
  const std::less<const std::byte*> before;
  if (before(begin, block.data()) || before(block.data() + block.size(), begin)) {
    return std::nullopt;
  }
  const auto offset = static_cast<std::size_t>(begin - block.data());
  if (bytes > block.size() - offset) return std::nullopt;
  return offset;
}

}  // namespace

void SharedResults::add(std::uint64_t place, std::span<std::byte> memory) {
  blocks_.push_back({place, memory});
}

std::optional<std::uint64_t> SharedResults::place_of_block(const void* memory) const noexcept {
  const auto begins_there = [memory](const Block& b) { return b.memory.data() == memory; };
  const auto block = std::ranges::find_if(blocks_, begins_there);
  if (block == blocks_.end()) return std::nullopt;
  return block->place;
}

void SharedResults::remove(std::uint64_t place) noexcept {
  std::erase_if(blocks_, [place](const Block& block) { return block.place == place; });
}

std::optional<std::uint64_t> SharedResults::place_of(const void* memory,
                                                     std::size_t bytes) const noexcept {
  for (const Block& block : blocks_) {
    const auto offset = offset_within(block.memory, memory, bytes);
    if (offset) return block.place + *offset;
  }
  return std::nullopt;
}

std::byte* SharedResults::at(std::uint64_t place, std::size_t bytes) const noexcept {
  for (const Block& block : blocks_) {
    if (place < block.place || place - block.place > block.memory.size()) continue;
    const auto offset = static_cast<std::size_t>(place - block.place);
    if (bytes <= block.memory.size() - offset) return block.memory.data() + offset;
  }
  return nullptr;
}

void SharedResults::check(const CollectiveCall& call, const Arena& arena) const {
  const std::size_t bytes = call.count * element_bytes(call.dtype);
  if (bytes == 0) return;
  const std::string operation = name(call.kind);
  if (!place_of(call.destination, bytes)) {
    throw InvalidArgument(operation + ": the result isn't memory of allocate_shared() of this " +
                          "group; pass what that gave, or a part of it");
  }
  if (arena.contains(call.source, bytes) && !place_of(call.source, bytes)) return;
  throw InvalidArgument(operation + ": the values aren't memory of allocate() of this rank; the " +
                        "other ranks read them where they are: copy them to such memory, or use " +
                        "all_reduce");
}

}  // namespace tensorplay::distributed
