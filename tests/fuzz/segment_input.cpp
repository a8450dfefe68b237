#include "tests/fuzz/segment_input.h"

#include "lib/distributed/attach.h"
#include "lib/distributed/leftovers.h"
#include "lib/shm/segment.h"
#include "lib/sync/liveness.h"

#include <tensorplay/error.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>

namespace tensorplay::fuzz {
namespace {

constexpr shm::SegmentOptions kOptions{.world_size = 2, .arena_bytes = 64 * 1024};
constexpr std::size_t kFileBytesMax = std::size_t{1} << 30;

// The one name that this process uses.
const std::string& file_name() {
  static const std::string name =
      shm::Segment::name_of("fuzz-" + std::to_string(getpid()) + "-" +
                            std::to_string(std::chrono::steady_clock::now().time_since_epoch() /
                                           std::chrono::nanoseconds(1)));
  return name;
}

class FileAtTheName {
 public:
  FileAtTheName() = default;
  ~FileAtTheName() { shm_unlink(file_name().c_str()); }
  FileAtTheName(const FileAtTheName&) = delete;
  FileAtTheName& operator=(const FileAtTheName&) = delete;

  static void put_bytes(Bytes bytes) {
    const int file = shm_open(file_name().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || write(file, bytes.data(), bytes.size()) < 0) {
      throw std::runtime_error("the fuzzer's file can't be written");
    }
    close(file);
  }
  // Unless it's gone: to any job that starts meanwhile it is a leftover.
  static void resize(std::size_t bytes) {
    const int file = shm_open(file_name().c_str(), O_RDWR | O_CLOEXEC, 0600);
    if (file < 0) return;
    if (ftruncate(file, static_cast<off_t>(bytes)) != 0) throw std::runtime_error("not cut");
    close(file);
  }
};

// Of the header or of the rank blocks, but no mutex: the C library keeps its lists there.
bool may_be_changed(const shm::Segment& segment, std::size_t offset) {
  for (int rank = 0; rank < segment.world_size(); ++rank) {
    const std::size_t mutex = segment.offset_of(&segment.rank_block(rank).life.mutex);
    if (offset >= mutex && offset < mutex + sizeof(pthread_mutex_t)) return false;
  }
  return offset < segment.geometry().groups_offset;
}

void put_changed_segment(InputBytes& input) {
  const auto segment = shm::Segment::create_named(file_name(), kOptions);
  if (!segment) return;  // somebody has taken it for a leftover before it was locked
  segment->publish();
  const std::size_t begin_of_ranks = segment->geometry().rank_blocks_offset;
  for (std::size_t changes = input.below(32); changes > 0; --changes) {
    const std::size_t where = input.take<std::uint16_t>();
    const std::size_t offset = where % 2 == 0 ? where / 2 % 256 : begin_of_ranks + where / 2;
    const auto value = static_cast<std::byte>(input.take<std::uint8_t>());
    if (may_be_changed(*segment, offset)) *segment->at(offset) = value;
  }
}

void look_at(const shm::Segment& segment) {
  segment.expect_whole();
  distributed::is_leftover(segment);
  for (int rank = 0; rank < segment.world_size(); ++rank) {
    const shm::Life& life = segment.rank_block(rank).life;
    sync::vitality(segment, rank);
    sync::process_label(life);
    sync::end_of(life);
    sync::activity_of(life);
  }
}

}  // namespace

void open_segment_of(Bytes bytes) {
  const FileAtTheName file;
  InputBytes input(bytes);
  const bool is_segment = input.below(4) != 0;
  const bool is_resized = input.below(4) == 0;
  const std::size_t file_bytes = input.take<std::uint32_t>() % kFileBytesMax;
  is_segment ? put_changed_segment(input) : FileAtTheName::put_bytes(input.rest());
  if (is_resized) FileAtTheName::resize(file_bytes);
  try {
    const auto segment = shm::Segment::open_named(file_name());
    if (!segment) return;
    look_at(*segment);
    segment->expect(kOptions);
    distributed::attach_rank(segment, 0, std::chrono::milliseconds(1));
  } catch (const Error&) {
    // Refused, with a reason.
  }
}

std::vector<std::vector<std::uint8_t>> segment_seeds() {
  std::vector<std::vector<std::uint8_t>> seeds{
      {0, 1, 0, 0, 0, 0, 'x'},         // a small file of something else
      {0, 0, 0, 0, 1, 0},              // a sparse one
      {1, 1, 0, 0, 0, 0, 0},           // a whole segment
      {1, 0, 0, 0x20, 0, 0, 0},        // a segment that was cut
      {1, 0, 0xff, 0xff, 0xff, 0x3f},  // a segment that was lengthened
  };
  // A segment with one byte of its header changed.
  for (std::uint8_t offset = 0; offset < 64; ++offset) {
    seeds.push_back({1, 1, 0, 0, 0, 0, 1, static_cast<std::uint8_t>(2 * offset), 0, 0x7f});
  }
  return seeds;
}

}  // namespace tensorplay::fuzz
