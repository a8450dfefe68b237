// Looking into a segment without being a part of its job.
#include "lib/shm/header_check.h"
#include "lib/shm/mapping.h"
#include "lib/shm/segment.h"

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>

namespace tensorplay::shm {

std::shared_ptr<Segment> Segment::copy_of(const std::string& path) {
  auto file = std::make_shared<MemoryFile>(MemoryFile::open_for_reading(path));
  // The anonymous memory of a job isn't private by its mode: nobody else can find it.
  if (!file->is_regular() || file->owner_uid() != geteuid()) check_owner(*file, path);
  // On the heap: gcc's address sanitizer aligns what lies on its stacks to 64 bytes at most.
  const auto own_header = std::make_unique<SegmentHeader>();
  const SegmentHeader& header = *own_header;
  file->read(0, std::as_writable_bytes(std::span(own_header.get(), 1)));
  // SYNC segment. Acquire: pairs with publish().
  if (header.state.load(std::memory_order_acquire) != SegmentState::ready &&
      header.magic == kMagic) {
    refuse(path, "it is still being made", "look again in a moment");
  }
  const Geometry geometry = checked_geometry(header, path, file->bytes());
  auto mapping = std::make_unique<Mapping>(geometry.arenas_offset);
  const std::shared_ptr<Segment> copy(new Segment(std::move(file), std::move(mapping), geometry));
  copy->copy_control_blocks();
  // What was checked counts, whatever became of it meanwhile.
  std::memcpy(copy->mapping_->at(0), static_cast<const void*>(&header), sizeof(header));
  return copy;
}

void Segment::copy_control_blocks() const {
  const auto copy = [this](std::size_t offset, std::size_t bytes) {
    file_->read(offset, {mapping_->at(offset), bytes});
  };
  copy(0, geometry_.groups_offset);
  for (int slot = 0; slot < kGroupCountMax; ++slot) {
    // Relaxed: in memory of our own. The first slot isn't marked: it is always in use.
    const auto& mark = header_->group_slots[static_cast<std::size_t>(slot)];
    if (slot != 0 && mark.load(std::memory_order_relaxed) == 0) continue;
    const std::size_t group =
        geometry_.groups_offset + static_cast<std::size_t>(slot) * geometry_.group_bytes;
    copy(group, sizeof(GroupHeader));
    for (std::size_t member = 0; member < static_cast<std::size_t>(world_size()); ++member) {
      copy(group + geometry_.members_offset + member * geometry_.member_bytes,
           offsetof(MemberBlock, posts));
    }
  }
}

}  // namespace tensorplay::shm
