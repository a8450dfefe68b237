// The arithmetic of what is moved: shapes, rounds and slices. Exhaustive where numbers are small.

#include "lib/base/cache_line.h"
#include "lib/collectives/chunk_plan.h"
#include "lib/collectives/shape.h"
#include "lib/shm/layout.h"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <set>
#include <string>
#include <vector>

namespace tensorplay::collectives {
namespace {

using distributed::CollectiveCall;

enum class Who { nobody, root, all };

// One row of the table in shape.h. -1 blocks stand for one per rank.
struct Row {
  CollectiveKind kind;
  bool has_root;
  bool reduces;
  Who sources;
  int source_blocks;
  Who receivers;
  int destination_blocks;

  friend std::ostream& operator<<(std::ostream& out, const Row& row) {
    return out << distributed::name(row.kind);
  }
};

const std::vector<Row> kTable{
    {CollectiveKind::barrier, false, false, Who::nobody, 0, Who::nobody, 0},
    {CollectiveKind::all_reduce, false, true, Who::all, 1, Who::all, 1},
    {CollectiveKind::all_reduce_shared, false, true, Who::all, 1, Who::all, 1},
    {CollectiveKind::reduce, true, true, Who::all, 1, Who::root, 1},
    {CollectiveKind::reduce_scatter, false, true, Who::all, -1, Who::all, 1},
    {CollectiveKind::broadcast, true, false, Who::root, 1, Who::all, 1},
    {CollectiveKind::scatter, true, false, Who::root, -1, Who::all, 1},
    {CollectiveKind::all_gather, false, false, Who::all, 1, Who::all, -1},
    {CollectiveKind::gather, true, false, Who::all, 1, Who::root, -1},
    {CollectiveKind::all_to_all, false, false, Who::all, -1, Who::all, -1},
};

bool is_meant(Who who, int rank, int root) {
  return who == Who::all || (who == Who::root && rank == root);
}

int blocks(int entry, int world_size) {
  return entry < 0 ? world_size : entry;
}

Shape shape_of(CollectiveKind kind, int world_size, std::size_t count, DType dtype = DType::uint8,
               int root = 0) {
  CollectiveCall call;
  call.kind = kind;
  call.dtype = dtype;
  call.root = root;
  call.count = count;
  return Shape::of(call, world_size);
}

// What is wrong with how one rank of a shape differs from its row; "" if nothing.
std::string wrong_of_rank(const Row& row, const Shape& shape, int rank) {
  if (shape.is_source(rank) != is_meant(row.sources, rank, shape.root)) return "is_source";
  if (shape.is_receiver(rank) != is_meant(row.receivers, rank, shape.root)) return "is_receiver";
  // A barrier's blocks are never asked for; a single block is block 0.
  const int read = shape.source_blocks() > 1 ? rank : 0;
  const int written = shape.destination_blocks() > 1 ? rank : 0;
  if (shape.block_read_by(rank) != read) return "block_read_by";
  if (shape.block_written_from(rank) != written) return "block_written_from";
  return "";
}

std::string wrong_with(const Row& row, const Shape& shape) {
  if (shape.has_root() != row.has_root) return "has_root";
  if (shape.reduces() != row.reduces) return "reduces";
  if (shape.root_supplies() != (row.sources == Who::root)) return "root_supplies";
  if (shape.source_blocks() != blocks(row.source_blocks, shape.world_size)) return "source_blocks";
  if (shape.destination_blocks() != blocks(row.destination_blocks, shape.world_size)) {
    return "destination_blocks";
  }
  for (int rank = 0; rank < shape.world_size; ++rank) {
    const std::string wrong = wrong_of_rank(row, shape, rank);
    if (!wrong.empty()) return wrong + " of rank " + std::to_string(rank);
  }
  return "";
}

// Counts near which rounds change, for a piece of that size.
std::vector<std::size_t> sizes_around(std::size_t piece) {
  std::set<std::size_t> sizes{0, 1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 8191, 8192, 8193};
  for (std::size_t rounds = 1; rounds <= 9; ++rounds) {
    for (std::size_t near : {rounds * piece - 1, rounds * piece, rounds * piece + 1}) {
      sizes.insert(near);
    }
  }
  return {sizes.begin(), sizes.end()};
}

// What is wrong with a plan; "" if every byte of a block has its round, and every round its room.
std::string wrong_with(const Shape& shape, const ChunkPlan& plan, std::size_t chunk_bytes) {
  if (plan.block_bytes != shape.block_bytes) return "the block";
  if (plan.piece_bytes == 0 || plan.piece_bytes % kLineBytes != 0) return "the piece";
  const std::size_t pieces =
      std::max<std::size_t>(static_cast<std::size_t>(shape.source_blocks()), 1);
  if (pieces * plan.piece_bytes > chunk_bytes) return "pieces that exceed the buffer";
  if (plan.rounds < 1) return "no round";
  std::size_t end = 0;
  for (std::uint64_t k = 0; k < plan.rounds; ++k) {
    const ByteRange range = plan.round(k);
    if (range.begin != end) return "a gap or an overlap before round " + std::to_string(k);
    if (range.end < range.begin || range.size() > plan.piece_bytes) return "the size of a round";
    if (range.size() == 0 && plan.block_bytes != 0) return "an empty round";
    end = range.end;
  }
  if (end != plan.block_bytes) return "the end of the last round";
  const ByteRange after = plan.round(plan.rounds);
  return after.size() == 0 && after.begin == plan.block_bytes ? "" : "a round after the last";
}

// What is wrong with the slices of so many bytes; "" if nothing.
std::string wrong_slices(std::size_t bytes, int workers) {
  std::size_t end = 0;
  std::size_t least = bytes + kLineBytes;
  std::size_t most = 0;
  for (int index = 0; index < workers; ++index) {
    const ByteRange slice = slice_of(bytes, index, workers);
    if (slice.begin != end || slice.end < slice.begin) return "a gap or an overlap";
    if (slice.begin != bytes && slice.begin % kLineBytes != 0) return "a begin within a line";
    const std::size_t lines = (slice.size() + kLineBytes - 1) / kLineBytes;
    least = std::min(least, lines);
    most = std::max(most, lines);
    end = slice.end;
  }
  if (end != bytes) return "not everything is covered";
  return most - least <= 1 ? "" : "slices that differ by more than a line";
}

BOOST_AUTO_TEST_SUITE(shapes)

BOOST_DATA_TEST_CASE(every_kind_has_the_shape_of_its_row, kTable, row) {
  for (int world_size = 1; world_size <= 17; ++world_size) {
    for (int root = 0; root < world_size; ++root) {
      const Shape shape = shape_of(row.kind, world_size, 10, DType::float32, root);
      BOOST_TEST(wrong_with(row, shape) == "", "of " << world_size << " ranks, root " << root);
    }
  }
  BOOST_TEST(wrong_with(row, shape_of(row.kind, distributed::kRankCountMax, 10)) == "");
}

BOOST_DATA_TEST_CASE(bytes_are_elements_times_their_size_times_blocks, kTable, row) {
  for (const DType dtype : {DType::uint8, DType::bfloat16, DType::float32, DType::int64}) {
    const Shape shape = shape_of(row.kind, 5, 7, dtype);
    const std::size_t block = 7 * element_bytes(dtype);
    BOOST_TEST(shape.count == 7u);
    BOOST_TEST(shape.block_bytes == block);
    BOOST_TEST(shape.source_bytes() ==
               block * static_cast<std::size_t>(blocks(row.source_blocks, 5)));
    BOOST_TEST(shape.destination_bytes() ==
               block * static_cast<std::size_t>(blocks(row.destination_blocks, 5)));
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(algorithms)

BOOST_AUTO_TEST_CASE(the_bytes_of_a_source_decide) {
  const auto algorithm = [](CollectiveKind kind, int world_size, std::size_t count) {
    return algorithm_for(shape_of(kind, world_size, count));
  };
  const auto line = shm::kInlineBytes;
  const auto slot = shm::kPostBytes;
  for (const auto kind : {CollectiveKind::all_reduce, CollectiveKind::gather}) {
    BOOST_TEST((algorithm(kind, 3, 0) == Algorithm::inline_line));
    BOOST_TEST((algorithm(kind, 3, line) == Algorithm::inline_line));
    BOOST_TEST((algorithm(kind, 3, line + 1) == Algorithm::one_shot));
    BOOST_TEST((algorithm(kind, 3, slot) == Algorithm::one_shot));
    BOOST_TEST((algorithm(kind, 3, slot + 1) == Algorithm::large));
  }
  BOOST_TEST((algorithm(CollectiveKind::all_to_all, 4, line / 4) == Algorithm::inline_line));
  BOOST_TEST((algorithm(CollectiveKind::all_to_all, 4, line / 4 + 1) == Algorithm::one_shot));
  BOOST_TEST((algorithm(CollectiveKind::scatter, 4, slot / 4) == Algorithm::one_shot));
  BOOST_TEST((algorithm(CollectiveKind::scatter, 4, slot / 4 + 1) == Algorithm::large));
  // Whoever writes a result that others read at once writes his own slice.
  BOOST_TEST((algorithm(CollectiveKind::all_reduce_shared, 4, 1) == Algorithm::large));
  BOOST_TEST((algorithm(CollectiveKind::all_reduce_shared, 4, 0) == Algorithm::inline_line));
  BOOST_TEST((algorithm(CollectiveKind::barrier, 256, 0) == Algorithm::inline_line));
}

BOOST_DATA_TEST_CASE(what_goes_with_the_arrival_fits_there, kTable, row) {
  for (int world_size = 1; world_size <= distributed::kRankCountMax; ++world_size) {
    for (std::size_t count = 0; count <= shm::kPostBytes + 1; count += count < 70 ? 1 : 61) {
      const Shape shape = shape_of(row.kind, world_size, count);
      const Algorithm algorithm = algorithm_for(shape);
      const std::size_t room = algorithm == Algorithm::inline_line ? shm::kInlineBytes
                               : algorithm == Algorithm::one_shot  ? shm::kPostBytes
                                                                   : shape.source_bytes();
      if (shape.source_bytes() > room)
        BOOST_ERROR("too many bytes: " << world_size << " " << count);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(chunk_plans)

BOOST_DATA_TEST_CASE(rounds_cover_each_block_once_within_the_buffer, kTable, row) {
  for (int world_size = 1; world_size <= distributed::kRankCountMax; ++world_size) {
    const ChunkPlan probe = ChunkPlan::of(shape_of(row.kind, world_size, 1), shm::kChunkBytes);
    for (const std::size_t bytes : sizes_around(probe.piece_bytes)) {
      const Shape shape = shape_of(row.kind, world_size, bytes);
      const ChunkPlan plan = ChunkPlan::of(shape, shm::kChunkBytes);
      const std::string wrong = wrong_with(shape, plan, shm::kChunkBytes);
      if (!wrong.empty()) {
        BOOST_ERROR(wrong << ": " << world_size << " ranks, " << bytes << " bytes a block");
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(small_buffers_and_blocks_are_covered_exhaustively) {
  for (int world_size = 1; world_size <= 4; ++world_size) {
    for (std::size_t chunk = 4 * kLineBytes; chunk <= 8 * kLineBytes; chunk += 16) {
      for (std::size_t bytes = 0; bytes <= 1100; ++bytes) {
        const Shape shape = shape_of(CollectiveKind::all_to_all, world_size, bytes);
        const std::string wrong = wrong_with(shape, ChunkPlan::of(shape, chunk), chunk);
        if (!wrong.empty())
          BOOST_ERROR(wrong << ": " << world_size << " " << chunk << " " << bytes);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(an_empty_block_has_one_empty_round) {
  const ChunkPlan plan =
      ChunkPlan::of(shape_of(CollectiveKind::all_reduce, 3, 0), shm::kChunkBytes);
  BOOST_TEST(plan.rounds == 1u);
  BOOST_TEST(plan.round(0).size() == 0u);
}

BOOST_AUTO_TEST_CASE(a_single_block_has_the_whole_buffer_and_many_share_it) {
  const auto piece = [](CollectiveKind kind, int world_size) {
    return ChunkPlan::of(shape_of(kind, world_size, 1 << 20), shm::kChunkBytes).piece_bytes;
  };
  BOOST_TEST(piece(CollectiveKind::all_reduce, 256) == shm::kChunkBytes);
  BOOST_TEST(piece(CollectiveKind::all_gather, 256) == shm::kChunkBytes);
  BOOST_TEST(piece(CollectiveKind::all_to_all, 4) == shm::kChunkBytes / 4);
  BOOST_TEST(piece(CollectiveKind::reduce_scatter, 256) == shm::kChunkBytes / 256);
  // A third of the buffer isn't whole lines.
  BOOST_TEST(piece(CollectiveKind::scatter, 3) == shm::kChunkBytes / 3 / kLineBytes * kLineBytes);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(slices)

BOOST_AUTO_TEST_CASE(slices_of_few_bytes_for_few_workers_are_right_exhaustively) {
  for (int workers = 1; workers <= 20; ++workers) {
    for (std::size_t bytes = 0; bytes <= 24 * kLineBytes; ++bytes) {
      const std::string wrong = wrong_slices(bytes, workers);
      if (!wrong.empty())
        BOOST_ERROR(wrong << ": " << bytes << " bytes, " << workers << " workers");
    }
  }
}

BOOST_AUTO_TEST_CASE(slices_are_right_for_every_number_of_workers) {
  for (int workers = 1; workers <= distributed::kRankCountMax; ++workers) {
    const std::size_t even = static_cast<std::size_t>(workers) * kLineBytes;
    for (const std::size_t base : {even, 2 * even, 7 * even, shm::kChunkBytes}) {
      for (const std::size_t bytes :
           {base - kLineBytes, base - 1, base, base + 1, base + kLineBytes}) {
        const std::string wrong = wrong_slices(bytes, workers);
        if (!wrong.empty()) BOOST_ERROR(wrong << ": " << bytes << " bytes, " << workers);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(slices_of_gigabytes_dont_overflow) {
  for (const int workers : {1, 2, 3, 255, 256}) {
    for (const std::size_t near : {std::size_t{0}, std::size_t{1}, kLineBytes}) {
      BOOST_TEST(wrong_slices((std::size_t{1} << 36) - near, workers) == "");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::collectives
