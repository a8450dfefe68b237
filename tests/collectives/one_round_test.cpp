// A staged all_reduce of one round, on rank 0 of three; the test plays the others, word by word.

#include "lib/collectives/group_memory.h"
#include "lib/collectives/large_run.h"
#include "lib/reduce/reduce_kernel.h"
#include "lib/shm/segment.h"
#include "lib/sync/arrival.h"
#include "lib/sync/progress.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace tensorplay::collectives {
namespace {

constexpr std::uint64_t kNumber = 6;
constexpr int kRanks = 3;

// Each rank contributes its own rank + 1, everywhere.
class ThreeRanks {
 public:
  explicit ThreeRanks(std::size_t bytes) : values_(bytes / sizeof(float), 1.0F) {
    shape_ = Shape::of(
        {CollectiveKind::all_reduce, DType::float32, distributed::ReduceOp::sum, 0, values_.size()},
        kRanks);
  }

  bool stage_ahead(std::uint64_t number = kNumber) {
    return collectives::stage_ahead(memory_, lease_, number, shape_, source());
  }
  // Of a peer: with its first round staged, whether it says so or not.
  void arrive(int peer, unsigned flags) {
    shm::ArrivalLine& line = sync::arrival_line(memory_.member(peer), kNumber);
    line.flags = static_cast<std::uint8_t>(flags);
    const std::vector<float> theirs(values_.size(), static_cast<float>(peer + 1));
    std::memcpy(memory_.staging(peer, kNumber), theirs.data(), shape_.block_bytes);
  }
  void begin(bool staged_ahead) {
    Exchange exchange;
    exchange.memory = &memory_;
    exchange.number = kNumber;
    exchange.shape = shape_;
    exchange.kernel = reduce::kernel_for(DType::float32, distributed::ReduceOp::sum);
    exchange.source = source();
    exchange.destination = reinterpret_cast<std::byte*>(values_.data());
    for (int rank = 0; rank < kRanks; ++rank) exchange.contributors.insert(rank);
    exchange.participants = exchange.sources = exchange.contributors;
    exchange.staged_ahead = staged_ahead;
    run_ = make_large_run(exchange, lease_);
  }
  bool advance() { return run_->advance(); }
  bool awaits(int peer) const { return run_->awaits(peer); }
  shm::Progress& progress(int member) { return memory_.member(member).progress; }
  bool has_sum() const {
    return std::ranges::all_of(values_, [](float value) { return value == 6.0F; });
  }

 private:
  const std::byte* source() const { return reinterpret_cast<const std::byte*>(values_.data()); }

  std::shared_ptr<shm::Segment> segment_ =
      shm::Segment::create_anonymous({.world_size = kRanks, .arena_bytes = 0});
  GroupMemory memory_{segment_, 0, 0, {0, 1, 2}};
  std::vector<float> values_;
  Shape shape_;
  StagingLease lease_;
  std::unique_ptr<LargeRun> run_;
};

void tell(std::atomic<std::uint64_t>& word, std::uint64_t number = kNumber) {
  sync::publish_progress(word, sync::progress_value(number, 1));
}

constexpr std::size_t kLittle = 16 * 1024;
constexpr std::size_t kMuch = 64 * 1024;

BOOST_AUTO_TEST_SUITE(one_round)

BOOST_AUTO_TEST_CASE(little_that_all_have_staged_ahead_is_reduced_with_no_further_word) {
  ThreeRanks ranks(kLittle);
  BOOST_TEST(ranks.stage_ahead());
  for (int peer : {1, 2}) ranks.arrive(peer, shm::kStagedAhead);
  ranks.begin(true);
  BOOST_TEST(ranks.advance());
  BOOST_TEST(ranks.has_sum());
  BOOST_TEST(!ranks.awaits(1));
}

BOOST_AUTO_TEST_CASE(a_peer_that_could_not_stage_ahead_is_awaited) {
  ThreeRanks ranks(kLittle);
  BOOST_TEST(ranks.stage_ahead());
  ranks.arrive(1, shm::kStagedAhead);
  ranks.arrive(2, 0);
  ranks.begin(true);
  BOOST_TEST(!ranks.advance());
  BOOST_TEST(!ranks.awaits(1));
  BOOST_TEST(ranks.awaits(2));
  tell(ranks.progress(2).staged);
  BOOST_TEST(ranks.advance());
  BOOST_TEST(ranks.has_sum());
}

BOOST_AUTO_TEST_CASE(much_is_reduced_by_slices) {
  ThreeRanks ranks(kMuch);
  BOOST_TEST(ranks.stage_ahead());
  for (int peer : {1, 2}) ranks.arrive(peer, shm::kStagedAhead);
  ranks.begin(true);
  BOOST_TEST(!ranks.advance());
  BOOST_TEST(sync::observe_progress(ranks.progress(0).reduced, sync::progress_value(kNumber, 1)));
  BOOST_TEST(ranks.awaits(1));
  for (int peer : {1, 2}) tell(ranks.progress(peer).reduced);
  BOOST_TEST(ranks.advance());
}

BOOST_AUTO_TEST_CASE(much_is_reduced_in_one_phase_where_a_rank_knows_of_too_few_cpus) {
  ThreeRanks ranks(kMuch);
  BOOST_TEST(ranks.stage_ahead());
  ranks.arrive(1, shm::kStagedAhead);
  ranks.arrive(2, shm::kStagedAhead | shm::kCrowded);
  ranks.begin(true);
  BOOST_TEST(ranks.advance());
  BOOST_TEST(ranks.has_sum());
}

BOOST_AUTO_TEST_CASE(what_was_staged_ahead_is_kept_until_the_others_have_read_it) {
  ThreeRanks ranks(kLittle);
  BOOST_TEST(ranks.stage_ahead());
  for (int peer : {1, 2}) ranks.arrive(peer, shm::kStagedAhead);
  ranks.begin(true);
  BOOST_TEST(ranks.advance());
  BOOST_TEST(ranks.stage_ahead(kNumber + 1));
  BOOST_TEST(!ranks.stage_ahead(kNumber + shm::kStagingBuffers));
  for (int peer : {1, 2}) tell(ranks.progress(peer).consumed);
  BOOST_TEST(ranks.stage_ahead(kNumber + shm::kStagingBuffers));
}

BOOST_AUTO_TEST_CASE(an_all_reduce_of_several_rounds_is_not_staged_ahead) {
  ThreeRanks ranks(2 * shm::kChunkBytes);
  BOOST_TEST(!ranks.stage_ahead());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::collectives
