// A staged all_reduce whose peer is played by the test, word by word: moments that two ranks reach
// only by being preempted in the midst of a step.

#include "lib/collectives/group_memory.h"
#include "lib/collectives/large_run.h"
#include "lib/reduce/reduce_kernel.h"
#include "lib/shm/segment.h"
#include "lib/sync/progress.h"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace tensorplay::collectives {
namespace {

constexpr std::uint64_t kNumber = 1;
constexpr std::uint64_t kRounds = shm::kStagingBuffers + 1;

// Rank 0 of two, in an all_reduce of one round more than there are buffers; the last is shorter, so
// that its slices lie elsewhere.
class TwoRanks {
 public:
  TwoRanks() : values_((shm::kStagingBuffers * shm::kChunkBytes + 4096) / sizeof(float)) {
    Exchange exchange;
    exchange.memory = &memory_;
    exchange.number = kNumber;
    exchange.shape = Shape::of(
        {CollectiveKind::all_reduce, DType::float32, distributed::ReduceOp::sum, 0, values_.size()},
        2);
    exchange.kernel = reduce::kernel_for(DType::float32, distributed::ReduceOp::sum);
    exchange.source = reinterpret_cast<const std::byte*>(values_.data());
    exchange.destination = reinterpret_cast<std::byte*>(values_.data());
    for (int rank : {0, 1}) exchange.contributors.insert(rank);
    exchange.participants = exchange.sources = exchange.contributors;
    run_ = make_large_run(exchange, lease_);
  }

  bool advance() { return run_->advance(); }
  bool awaits_peer() const { return run_->awaits(1); }
  shm::Progress& peer() { return memory_.member(1).progress; }
  // Whether rank 0 has staged so many rounds, and no more.
  bool has_staged(std::uint64_t rounds) const {
    const auto& staged = memory_.own().progress.staged;
    return sync::observe_progress(staged, sync::progress_value(kNumber, rounds)) &&
           !sync::observe_progress(staged, sync::progress_value(kNumber, rounds + 1));
  }

 private:
  std::shared_ptr<shm::Segment> segment_ =
      shm::Segment::create_anonymous({.world_size = 2, .arena_bytes = 0});
  GroupMemory memory_{segment_, 0, 0, {0, 1}};
  std::vector<float> values_;
  StagingLease lease_;
  std::unique_ptr<LargeRun> run_;
};

void tell(std::atomic<std::uint64_t>& word, std::uint64_t rounds) {
  sync::publish_progress(word, sync::progress_value(kNumber, rounds));
}

BOOST_AUTO_TEST_SUITE(staged_run)

BOOST_AUTO_TEST_CASE(a_rank_stages_as_far_as_there_are_buffers) {
  TwoRanks ranks;
  BOOST_TEST(!ranks.advance());
  BOOST_TEST(ranks.has_staged(shm::kStagingBuffers));
  BOOST_TEST(ranks.awaits_peer());
}

// Nothing is read from the own buffer any more: the own slice of the result is in place already.
BOOST_AUTO_TEST_CASE(a_buffer_that_the_peer_has_read_is_filled_again_at_once) {
  TwoRanks ranks;
  tell(ranks.peer().staged, kRounds);
  BOOST_TEST(!ranks.advance());
  tell(ranks.peer().consumed, 1);
  BOOST_TEST(!ranks.advance());
  BOOST_TEST(ranks.has_staged(kRounds));
  tell(ranks.peer().reduced, kRounds);
  BOOST_TEST(ranks.advance());
}

BOOST_AUTO_TEST_CASE(a_buffer_is_kept_until_the_peer_has_read_it) {
  TwoRanks ranks;
  tell(ranks.peer().staged, kRounds);
  tell(ranks.peer().reduced, kRounds);
  BOOST_TEST(!ranks.advance());
  BOOST_TEST(ranks.has_staged(shm::kStagingBuffers));
  tell(ranks.peer().consumed, 1);
  BOOST_TEST(ranks.advance());
  tell(ranks.peer().consumed, kRounds);
  BOOST_TEST(!ranks.awaits_peer());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::collectives
