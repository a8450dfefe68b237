#include "lib/shm/segment.h"

#include "lib/base/fault_point.h"
#include "lib/shm/available_memory.h"
#include "lib/shm/header_check.h"
#include "lib/shm/mapping.h"
#include "lib/shm/memory_file.h"

#include <tensorplay/error.h>

#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <boost/interprocess/mapped_region.hpp>
#include <cerrno>
#include <cstring>

namespace tensorplay::shm {

namespace bip = boost::interprocess;

namespace {

[[noreturn]] void tell_lack(std::string_view purpose, std::size_t wanted, std::size_t free,
                            const std::string& where, const std::string& remedy) {
  throw SegmentError("no shared memory for " + std::string(purpose) + ": " +
                     std::to_string(wanted) + " bytes wanted, " + std::to_string(free) + " free " +
                     where + "; " + remedy + ", or use fewer ranks or smaller buffers");
}

[[noreturn]] void tell_lack_of_space(std::string_view purpose, std::size_t wanted, std::size_t free,
                                     int error = ENOSPC) {
  tell_lack(purpose, wanted, free, std::string("in /dev/shm (") + std::strerror(error) + ")",
            "enlarge /dev/shm (docker run --shm-size, mount -o remount,size=...)");
}

// The kernel would take what isn't there, and kill for it. What is small isn't worth the look.
void expect_memory(std::string_view purpose, std::size_t wanted, const MemoryFile& file) {
  constexpr std::size_t kSmall = std::size_t{64} << 10;
  if (wanted <= kSmall) return;
  const AvailableMemory available = available_memory();
  if (wanted <= available.bytes) return;
  const std::size_t free = file.bytes_free();
  if (free <= available.bytes) tell_lack_of_space(purpose, wanted, free);
  tell_lack(purpose, wanted, available.bytes, available.where,
            "free some, or raise the limit of the container (docker run --memory)");
}

}  // namespace

Segment::Segment(std::shared_ptr<MemoryFile> file, std::unique_ptr<Mapping> mapping,
                 const Geometry& geometry)
    : file_(std::move(file)),
      mapping_(std::move(mapping)),
      header_(reinterpret_cast<SegmentHeader*>(mapping_->at(0))),
      geometry_(geometry) {}

Segment::~Segment() = default;

std::shared_ptr<Segment> Segment::map(std::shared_ptr<MemoryFile> file, const Geometry& geometry) {
  auto mapping = std::make_unique<Mapping>(*file, geometry.segment_bytes);
  return std::shared_ptr<Segment>(new Segment(std::move(file), std::move(mapping), geometry));
}

std::shared_ptr<Segment> Segment::make(std::shared_ptr<MemoryFile> file, const Geometry& geometry,
                                       const SegmentOptions& options) {
  const auto segment = map(std::move(file), geometry);
  auto* begin = reinterpret_cast<std::byte*>(segment->header_);
  segment->expect_room_to_start();
  const bool survives = options.on_peer_failure == distributed::PeerFailurePolicy::continue_without;
  const std::size_t share = survives ? segment->fair_share() : 0;
  segment->reserve({begin, geometry.groups_offset}, "the control blocks");
  fault_point("segment.reserved");
  SegmentHeader& header = *segment->header_;
  header.magic = kMagic;
  header.layout_version = kLayoutVersion;
  header.world_size = static_cast<std::uint32_t>(geometry.world_size);
  header.segment_bytes = geometry.segment_bytes;
  header.arena_bytes = geometry.arena_bytes;
  header.owner_uid = geteuid();
  header.on_peer_failure = options.on_peer_failure;
  header.streaming_stores = options.streaming_stores;
  header.launch = options.launch;
  header.share_bytes = share;
  return segment;
}

std::shared_ptr<Segment> Segment::create_anonymous(const SegmentOptions& options) {
  const Geometry geometry = Geometry::of(options.world_size, options.arena_bytes);
  auto file = std::make_shared<MemoryFile>(MemoryFile::anonymous(geometry.segment_bytes));
  auto segment = make(std::move(file), geometry, options);
  segment->publish();
  return segment;
}

std::string Segment::name_of(const std::string& job_name) {
  return "tensorplay-" + std::to_string(geteuid()) + "-" + job_name;
}

std::shared_ptr<Segment> Segment::create_named(const std::string& name,
                                               const SegmentOptions& options) {
  const Geometry geometry = Geometry::of(options.world_size, options.arena_bytes);
  auto created = MemoryFile::create(name);
  if (!created) return nullptr;
  fault_point("segment.file_made");
  auto file = std::make_shared<MemoryFile>(std::move(*created));
  // Somebody who found the file before it was locked has taken it for a leftover and removed it.
  if (!file->try_lock() || !file->has_name()) return nullptr;
  try {
    fault_point("segment.locked");
    file->resize(geometry.segment_bytes);
    fault_point("segment.resized");
    return make(file, geometry, options);
  } catch (...) {
    file->unlink();
    throw;
  }
}

namespace {

// Whether the file holds a published header, or somebody else's data, which the caller's checks
// refuse. Looks at the header's page only.
bool is_published(const MemoryFile& file) {
  const std::size_t file_bytes = file.bytes();
  if (file_bytes < sizeof(SegmentHeader)) return file_bytes > 0;
  // A page that was never written isn't mapped: looking at it would take memory, and where there is
  // none left, end the process.
  if (!file.has_data_at_begin()) return false;
  const bip::mapped_region page(file, bip::read_write, 0, sizeof(SegmentHeader));
  auto* header = static_cast<SegmentHeader*>(page.get_address());
  // SYNC segment. Acquire: pairs with publish(); the fields before `state` are then final.
  return (header->magic != kMagic && header->magic != 0) ||
         header->state.load(std::memory_order_acquire) == SegmentState::ready;
}

// The same, and removes a file that was never published: its maker is at work and holds the lock,
// or has died.
bool is_published_or_removed(MemoryFile& file) {
  if (is_published(file)) return true;
  if (!file.try_lock()) return false;
  // The maker may have published it between the look and the lock. Now nobody changes it.
  const bool published = is_published(file);
  if (!published) file.unlink();
  file.unlock();
  return published;
}

}  // namespace

std::shared_ptr<Segment> Segment::open_named(const std::string& name) {
  auto opened = MemoryFile::open(name);
  if (!opened) return nullptr;
  auto file = std::make_shared<MemoryFile>(std::move(*opened));
  const std::string path = "/dev/shm/" + name;
  check_owner(*file, path);
  if (!is_published_or_removed(*file)) return nullptr;
  const std::size_t file_bytes = file->bytes();
  if (file_bytes < sizeof(SegmentHeader)) {
    refuse(path, "it isn't a segment of this library",
           "remove the file, or choose another job name");
  }
  const bip::mapped_region page(*file, bip::read_only, 0, sizeof(SegmentHeader));
  const auto& header = *static_cast<const SegmentHeader*>(page.get_address());
  const Geometry geometry = checked_geometry(header, path, file_bytes);
  // The maker has taken it already; a file with holes would take memory where it is touched.
  if (const int error = file->reserve(0, geometry.groups_offset); error != 0) {
    tell_lack_of_space("the control blocks", geometry.groups_offset, file->bytes_free(), error);
  }
  return map(std::move(file), geometry);
}

// As messages name it.
std::string Segment::path() const {
  return "/dev/shm/" + file_->name();
}

void Segment::expect(const SegmentOptions& options) const {
  if (header_->launch != options.launch && header_->launch != 0 && options.launch != 0) {
    refuse(path(), "another start of a job of this name is waiting for its ranks",
           "choose another job name (tprun --job), or wait until all ranks of that one have come");
  }
  const Geometry expected = Geometry::of(options.world_size, options.arena_bytes);
  const std::string remedy =
      "start all ranks with the same options, or choose another job name: a job of this one is "
      "running";
  if (geometry_.world_size != expected.world_size) {
    refuse(path(),
           "it was made for " + std::to_string(geometry_.world_size) +
               " ranks, this rank expects " + std::to_string(expected.world_size),
           remedy);
  }
  if (geometry_.arena_bytes != expected.arena_bytes) {
    refuse(path(),
           "its arenas have " + std::to_string(geometry_.arena_bytes) +
               " bytes, this rank expects " + std::to_string(expected.arena_bytes),
           remedy);
  }
  if (header_->on_peer_failure != options.on_peer_failure) {
    refuse(path(),
           std::string("its ranks ") + distributed::name(header_->on_peer_failure) +
               " on a peer's failure, this rank would " +
               distributed::name(options.on_peer_failure),
           remedy);
  }
  if (header_->streaming_stores != options.streaming_stores) {
    refuse(path(),
           std::string("its streaming stores are '") +
               distributed::name(header_->streaming_stores) + "', this rank's '" +
               distributed::name(options.streaming_stores) + "'",
           remedy);
  }
}

void Segment::publish() noexcept {
  // SYNC segment. Release: pairs with is_published(); whoever sees `ready` sees the header filled.
  header_->state.store(SegmentState::ready, std::memory_order_release);
  file_->unlock();
}

std::shared_ptr<Segment> Segment::map_again() const {
  return map(file_, geometry_);
}

RankBlock& Segment::rank_block(int rank) const noexcept {
  const std::size_t offset =
      geometry_.rank_blocks_offset + static_cast<std::size_t>(rank) * sizeof(RankBlock);
  return *reinterpret_cast<RankBlock*>(mapping_->at(offset));
}

GroupHeader& Segment::group_header(int slot) const noexcept {
  const std::size_t offset =
      geometry_.groups_offset + static_cast<std::size_t>(slot) * geometry_.group_bytes;
  return *reinterpret_cast<GroupHeader*>(mapping_->at(offset));
}

MemberBlock& Segment::member_block(int slot, int member) const noexcept {
  const std::size_t offset =
      geometry_.groups_offset + static_cast<std::size_t>(slot) * geometry_.group_bytes +
      geometry_.members_offset + static_cast<std::size_t>(member) * geometry_.member_bytes;
  return *reinterpret_cast<MemberBlock*>(mapping_->at(offset));
}

std::span<std::byte> Segment::staging(int slot, int member) const noexcept {
  const std::size_t offset =
      geometry_.groups_offset + static_cast<std::size_t>(slot) * geometry_.group_bytes +
      geometry_.staging_offset + static_cast<std::size_t>(member) * kStagingBytes;
  return {mapping_->at(offset), kStagingBytes};
}

std::span<std::byte> Segment::group_memory(int slot) const noexcept {
  return {reinterpret_cast<std::byte*>(&group_header(slot)), geometry_.group_bytes};
}

std::span<std::byte> Segment::arena(int rank) const noexcept {
  const std::size_t offset =
      geometry_.arenas_offset + static_cast<std::size_t>(rank) * geometry_.arena_bytes;
  return {mapping_->at(offset), geometry_.arena_bytes};
}

// The lock of rank r is on byte r.
bool Segment::lock_rank(int rank) const {
  return file_->lock_byte(static_cast<std::size_t>(rank));
}

void Segment::unlock_rank(int rank) const noexcept {
  file_->unlock_byte(static_cast<std::size_t>(rank));
}

bool Segment::is_rank_locked(int rank) const noexcept {
  return file_->is_byte_locked(static_cast<std::size_t>(rank));
}

std::size_t Segment::offset_of(const void* address) const noexcept {
  const auto* begin = reinterpret_cast<const std::byte*>(header_);
  const auto* byte = static_cast<const std::byte*>(address);
  if (std::less<>{}(byte, begin) || !std::less<>{}(byte, begin + geometry_.segment_bytes)) return 0;
  return static_cast<std::size_t>(byte - begin);
}

std::byte* Segment::at(std::size_t offset) const noexcept {
  return mapping_->at(offset);
}

void Segment::reserve(std::span<std::byte> range, std::string_view purpose) const {
  if (range.empty()) return;
  expect_memory(purpose, range.size(), *file_);
  const int error = file_->reserve(offset_of(range.data()), range.size());
  if (error == 0) return;
  tell_lack_of_space(purpose, range.size(), file_->bytes_free(), error);
}

// What the control blocks and the group of all ranks take.
std::size_t Segment::bytes_to_start() const noexcept {
  const auto ranks = static_cast<std::size_t>(geometry_.world_size);
  return geometry_.groups_offset + geometry_.members_offset +
         ranks * (geometry_.member_bytes + kStagingBytes);
}

// Asked for as one, so that all ranks hear the same before any has begun.
void Segment::expect_room_to_start() const {
  const std::size_t wanted = bytes_to_start();
  const std::string purpose = "a job of " + std::to_string(geometry_.world_size) + " ranks";
  expect_memory(purpose, wanted, *file_);
  const std::size_t free = file_->bytes_free();
  if (wanted > free) tell_lack_of_space(purpose, wanted, free);
}

// What every rank could take besides, if all took the same.
std::size_t Segment::fair_share() const noexcept {
  const std::size_t free = std::min(file_->bytes_free(), available_memory().bytes);
  return (free - std::min(free, bytes_to_start())) / static_cast<std::size_t>(geometry_.world_size);
}

void Segment::expect_whole() const {
  const std::size_t bytes = file_->bytes();
  if (bytes >= geometry_.segment_bytes) return;
  throw SegmentError("the shared memory of this job was cut to " + std::to_string(bytes) +
                     " bytes, of " + std::to_string(geometry_.segment_bytes) +
                     ", by another process of this user; start the job anew");
}

void Segment::release(std::span<std::byte> range) const noexcept {
  const std::size_t begin = (offset_of(range.data()) + kPageBytes - 1) / kPageBytes * kPageBytes;
  const std::size_t end = (offset_of(range.data()) + range.size()) / kPageBytes * kPageBytes;
  if (begin < end) file_->punch_hole(begin, end - begin);
}

bool Segment::unlink_name() noexcept {
  if (!file_->try_lock()) return false;
  fault_point("segment.before_unlink");
  file_->unlink();
  fault_point("segment.unlinked");
  file_->unlock();
  return true;
}

}  // namespace tensorplay::shm
