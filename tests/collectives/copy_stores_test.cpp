// Which stores large copies use: the classes, the measurement, what is settled by whom.

#include "lib/collectives/copy_stores.h"
#include "lib/collectives/group_memory.h"
#include "lib/shm/segment.h"
#include "lib/sync/copy_stores.h"

#include <tensorplay/error.h>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <thread>
#include <vector>

namespace tensorplay::collectives {
namespace {

using distributed::StreamingStores;
using shm::CopyStores;

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

// One rank's view of an operation of two ranks; it copies from nobody.
struct Call {
  CollectiveKind kind = CollectiveKind::broadcast;
  std::size_t block_bytes = 0;
  int rank = 1;
  bool in_place = false;  // the own block of the destination is the source, or the other way round
};

// A job of two ranks, of which none runs.
class Job {
 public:
  explicit Job(StreamingStores choice = StreamingStores::automatic)
      : segment_(shm::Segment::create_anonymous(
            {.world_size = 2, .arena_bytes = 0, .streaming_stores = choice})) {}

  // By a rank that has a mapping of its own, with buffers that begin `shift` bytes into a line.
  bool copies_stream(const Call& call, std::size_t shift = 0) const {
    const GroupMemory memory(segment_->map_again(), 0, call.rank, {0, 1});
    Exchange exchange;
    exchange.memory = &memory;
    exchange.shape =
        Shape::of({call.kind, DType::uint8, distributed::ReduceOp::sum, 0, call.block_bytes}, 2);
    for (const int rank : {0, 1}) exchange.contributors.insert(rank);
    exchange.participants = exchange.contributors;
    for (const int rank : {0, 1}) {
      if (exchange.shape.is_source(rank)) exchange.sources.insert(rank);
    }
    std::vector<std::byte> destination(exchange.shape.destination_bytes() + shift, kUntouched);
    std::vector<std::byte> source(exchange.shape.source_bytes() + shift, kUntouched);
    const std::size_t own = static_cast<std::size_t>(call.rank) * call.block_bytes;
    exchange.destination = destination.data() + shift;
    exchange.source = source.data() + shift;
    if (call.in_place && exchange.shape.source_blocks() == 1) {
      exchange.source = exchange.destination + (exchange.shape.destination_blocks() > 1 ? own : 0);
    } else if (call.in_place) {
      exchange.destination = source.data() + shift + own;
    }
    const bool streams = collectives::copies_stream(exchange);
    const std::span supplied(exchange.source, exchange.shape.source_bytes());
    const bool is_intact =
        std::ranges::all_of(supplied, [](std::byte one) { return one == kUntouched; });
    // Not an assertion of Boost.Test: those are for one thread.
    if (exchange.supplies() && !is_intact) throw Error("the measurement has written to the source");
    return streams;
  }

  std::atomic<CopyStores>& word(std::size_t size_class) const {
    return segment_->header().copy_stores[size_class];
  }
  bool is_undecided(std::size_t size_class) const {
    return sync::settled_stores(word(size_class)) == CopyStores::undecided;
  }
  bool all_undecided() const {
    for (std::size_t i = 0; i < shm::kCopyClasses; ++i) {
      if (!is_undecided(i)) return false;
    }
    return true;
  }

 private:
  static constexpr std::byte kUntouched{0x5a};
  std::shared_ptr<shm::Segment> segment_;
};

BOOST_AUTO_TEST_SUITE(copy_stores)

BOOST_AUTO_TEST_CASE(classes_begin_at_a_quarter_1_4_16_and_64_mebibytes) {
  BOOST_TEST(copy_class(0) == -1);
  BOOST_TEST(copy_class(kMebibyte / 4 - 1) == -1);
  BOOST_TEST(copy_class(kMebibyte / 4) == 0);
  BOOST_TEST(copy_class(kMebibyte - 1) == 0);
  BOOST_TEST(copy_class(kMebibyte) == 1);
  BOOST_TEST(copy_class(4 * kMebibyte) == 2);
  BOOST_TEST(copy_class(16 * kMebibyte - 1) == 2);
  BOOST_TEST(copy_class(16 * kMebibyte) == 3);
  BOOST_TEST(copy_class(64 * kMebibyte) == 4);
  BOOST_TEST(copy_class(~std::size_t{0}) == shm::kCopyClasses - 1);
}

BOOST_AUTO_TEST_CASE(small_destinations_never_stream_and_are_not_measured) {
  const Job measured;
  const Job streaming(StreamingStores::always);
  const Call small{.block_bytes = kMebibyte / 4 - 1};
  BOOST_TEST(!measured.copies_stream(small));
  BOOST_TEST(!streaming.copies_stream(small));
  BOOST_TEST(measured.all_undecided());
}

BOOST_AUTO_TEST_CASE(what_kernels_write_never_streams) {
  const Job job(StreamingStores::always);
  for (const auto kind : {CollectiveKind::reduce, CollectiveKind::reduce_scatter}) {
    BOOST_TEST(!job.copies_stream({.kind = kind, .block_bytes = kMebibyte, .rank = 0}));
  }
}

BOOST_AUTO_TEST_CASE(an_all_reduce_streams_only_if_it_is_told_to) {
  const Call call{.kind = CollectiveKind::all_reduce, .block_bytes = kMebibyte, .in_place = true};
  BOOST_TEST(Job(StreamingStores::always).copies_stream(call));
  const Job measured;
  static_cast<void>(sync::settle_stores(measured.word(1), CopyStores::streaming));
  BOOST_TEST(!measured.copies_stream(call));
}

BOOST_AUTO_TEST_CASE(all_blocks_of_a_destination_count) {
  const Job job(StreamingStores::always);
  for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::all_to_all}) {
    BOOST_TEST(job.copies_stream({.kind = kind, .block_bytes = kMebibyte / 8}));
  }
  BOOST_TEST(!job.copies_stream({.kind = CollectiveKind::scatter, .block_bytes = kMebibyte / 8}));
}

BOOST_AUTO_TEST_CASE(who_receives_nothing_measures_nothing) {
  const Job job;
  BOOST_TEST(!job.copies_stream({.kind = CollectiveKind::gather, .block_bytes = kMebibyte}));
  BOOST_TEST(job.all_undecided());
}

BOOST_AUTO_TEST_CASE(never_and_always_are_not_measured) {
  const Job never(StreamingStores::never);
  const Job always(StreamingStores::always);
  for (const std::size_t bytes : {kMebibyte / 4, kMebibyte, 64 * kMebibyte}) {
    BOOST_TEST(!never.copies_stream({.block_bytes = bytes}));
    BOOST_TEST(always.copies_stream({.block_bytes = bytes}));
  }
  BOOST_TEST(never.all_undecided());
  BOOST_TEST(always.all_undecided());
}

BOOST_AUTO_TEST_CASE(each_class_is_measured_by_itself_and_once) {
  const Job job;
  const bool streams = job.copies_stream({.block_bytes = kMebibyte});
  for (const std::size_t other : {0, 2, 3, 4}) BOOST_TEST(job.is_undecided(other));
  const CopyStores settled = sync::settled_stores(job.word(1));
  BOOST_CHECK(settled == (streams ? CopyStores::streaming : CopyStores::plain));
  BOOST_TEST(job.copies_stream({.block_bytes = 2 * kMebibyte}) == streams);
}

// Job::copies_stream looks at the source.
BOOST_AUTO_TEST_CASE(measuring_in_a_destination_leaves_a_source_alone_that_lies_there) {
  for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::gather,
                          CollectiveKind::scatter, CollectiveKind::broadcast}) {
    for (const int rank : {0, 1}) {
      for (const std::size_t shift : {0, 3}) {
        const Job job;
        const bool in_place = kind != CollectiveKind::scatter || rank == 0;
        job.copies_stream(
            {.kind = kind, .block_bytes = kMebibyte, .rank = rank, .in_place = in_place}, shift);
        const bool copies =
            rank == 1 || kind == CollectiveKind::all_gather || kind == CollectiveKind::gather;
        const bool receives = rank == 0 || kind != CollectiveKind::gather;
        BOOST_TEST(job.all_undecided() == !(copies && receives));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_first_finding_counts_for_all_ranks) {
  for (const auto first : {CopyStores::plain, CopyStores::streaming}) {
    const auto second = first == CopyStores::plain ? CopyStores::streaming : CopyStores::plain;
    const Job job;
    BOOST_CHECK(sync::settle_stores(job.word(1), first) == first);
    BOOST_CHECK(sync::settle_stores(job.word(1), second) == first);
    for (const int rank : {0, 1}) {
      const Call call{CollectiveKind::all_gather, kMebibyte / 2, rank};
      BOOST_TEST(job.copies_stream(call) == (first == CopyStores::streaming));
    }
  }
}

BOOST_AUTO_TEST_CASE(ranks_that_measure_at_once_agree) {
  const Job job;
  std::vector<int> streams(4, -1);
  {
    std::vector<std::jthread> ranks;
    for (int& one : streams) {
      ranks.emplace_back([&] { one = job.copies_stream({.block_bytes = kMebibyte}) ? 1 : 0; });
    }
  }
  const CopyStores settled = sync::settled_stores(job.word(1));
  BOOST_REQUIRE((settled != CopyStores::undecided));
  for (const int one : streams) BOOST_TEST(one == (settled == CopyStores::streaming ? 1 : 0));
}

BOOST_AUTO_TEST_CASE(a_damaged_word_stands_for_plain_stores) {
  const Job job;
  constexpr auto kDamaged = static_cast<CopyStores>(77);
  BOOST_REQUIRE((sync::settle_stores(job.word(1), kDamaged) == kDamaged));
  BOOST_TEST(!job.copies_stream({.block_bytes = kMebibyte}));
  BOOST_CHECK(sync::settled_stores(job.word(1)) == kDamaged);
}

BOOST_AUTO_TEST_CASE(a_measurement_ends_soon_whatever_the_size) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, kMebibyte / 4 + 1, kMebibyte,
                                  16 * kMebibyte, 100 * kMebibyte}) {
    std::vector<std::byte> memory(bytes);
    const auto begin = std::chrono::steady_clock::now();
    const CopyStores found = measure_stores(memory);
    const auto taken = std::chrono::steady_clock::now() - begin;
    BOOST_CHECK(found == CopyStores::plain || found == CopyStores::streaming);
    BOOST_TEST((taken < std::chrono::seconds(2)));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::collectives
