#include "tools/tpbench/point.h"

#include <algorithm>

namespace tensorplay::tpbench {
namespace {

using distributed::CollectiveKind;

bool has_blocks(CollectiveKind kind) {
  return kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter ||
         kind == CollectiveKind::gather || kind == CollectiveKind::scatter ||
         kind == CollectiveKind::all_to_all;
}

}  // namespace

bool Point::is_in_place() const noexcept {
  return !has_blocks(kind);
}

bool Point::reduces() const noexcept {
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce ||
         kind == CollectiveKind::reduce_scatter;
}

bool Point::can_lie_in(Memory place) const noexcept {
  switch (place) {
    case Memory::own:
      return true;
    case Memory::allocated:
      return !is_barrier();
    case Memory::shared:
      return kind == CollectiveKind::all_reduce;
  }
  return false;
}

bool Point::is_rooted() const noexcept {
  return kind == CollectiveKind::reduce || kind == CollectiveKind::broadcast ||
         kind == CollectiveKind::gather || kind == CollectiveKind::scatter;
}

std::size_t Point::block_count() const noexcept {
  if (is_barrier()) return 0;
  const std::size_t blocks = has_blocks(kind) ? static_cast<std::size_t>(ranks) : 1;
  return std::max<std::size_t>(1, bytes / element_bytes(dtype) / blocks);
}

std::size_t Point::source_count() const noexcept {
  const bool has_many = kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::scatter ||
                        kind == CollectiveKind::all_to_all;
  return block_count() * (has_many ? static_cast<std::size_t>(ranks) : 1);
}

std::size_t Point::destination_count() const noexcept {
  const bool has_many = kind == CollectiveKind::all_gather || kind == CollectiveKind::gather ||
                        kind == CollectiveKind::all_to_all;
  return block_count() * (has_many ? static_cast<std::size_t>(ranks) : 1);
}

std::size_t Point::whole_bytes() const noexcept {
  return std::max(source_count(), destination_count()) * element_bytes(dtype);
}

const char* name(Memory memory) noexcept {
  switch (memory) {
    case Memory::own:
      return "private";
    case Memory::allocated:
      return "allocated";
    case Memory::shared:
      return "shared";
  }
  return "unknown";
}

const char* name(Calls calls) noexcept {
  return calls == Calls::asynchronous ? "async" : "sync";
}

const char* name(Start start) noexcept {
  switch (start) {
    case Start::automatic:
      return "auto";
    case Start::together:
      return "together";
    case Start::back_to_back:
      return "back_to_back";
  }
  return "unknown";
}

std::string bytes_text(std::size_t bytes) {
  constexpr std::size_t kKibi = 1024;
  if (bytes >= kKibi * kKibi && bytes % (kKibi * kKibi) == 0) {
    return std::to_string(bytes / kKibi / kKibi) + " MiB";
  }
  if (bytes >= kKibi && bytes % kKibi == 0) return std::to_string(bytes / kKibi) + " KiB";
  return std::to_string(bytes) + " B";
}

std::string to_string(const Point& point) {
  std::string text = name(point.kind);
  if (!point.is_barrier()) text += std::string(" ") + name(point.dtype);
  if (point.reduces()) text += std::string(" ") + name(point.op);
  text += ", " + std::to_string(point.ranks) + " ranks";
  if (!point.is_barrier()) text += ", " + bytes_text(point.whole_bytes());
  return text;
}

}  // namespace tensorplay::tpbench
