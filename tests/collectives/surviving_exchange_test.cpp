// Ranks that die at any step of any operation, and others that go on without them: the real engine
// and the real runs, whose ranks take turns in an order drawn from a seed. They are interrupted at
// every fault point, and die at one of them, or between two calls.

#include "tests/collectives/ranks_in_turns.h"
#include "tests/collectives/stepped_clock.h"
#include "tests/collectives/stepped_rank.h"
#include "tests/conformance/plan.h"
#include "tests/worlds/world_test.h"

#include "lib/base/fault_point.h"
#include "lib/distributed/attach.h"
#include "lib/distributed/group_engine.h"
#include "lib/shm/segment.h"

#include <tensorplay/distributed/peer_failure_policy.h>
#include <tensorplay/error.h>

#include <linux/futex.h>

#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tensorplay::conformance {
namespace {

using distributed::PeerFailurePolicy;

constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr std::uint64_t kPassesMax = 300'000;

// What becomes of a job: who goes, at which of its moments. A moment is a fault point, or the time
// before a call: what lies between is reading and waiting.
struct Fate {
  explicit Fate(int world_size) : end_at(static_cast<std::size_t>(world_size), kNever) {}
  std::vector<std::uint64_t> end_at;  // by rank
  // Whether ranks go by an exception that leaves a join context, and live on; else they die.
  bool leaves_group = false;
  PeerFailurePolicy policy = PeerFailurePolicy::continue_without;
};

// A rank's end as the kernel leaves it: the mutex that its thread held is marked, and its process
// has no lock. Taken back when all is over, so that the thread can clean up.
class Death {
 public:
  Death(const shm::Segment& segment, int rank) : segment_(segment), rank_(rank) {
    mark_mutex();
    segment_.unlock_rank(rank_);
  }
  ~Death() {
    segment_.lock_rank(rank_);
    mark_mutex();
  }
  Death(const Death&) = delete;
  Death& operator=(const Death&) = delete;

 private:
  void mark_mutex() {
    auto& lock = segment_.rank_block(rank_).life.mutex.__data.__lock;
    // Relaxed: ranks run one at a time.
    reinterpret_cast<std::atomic<int>&>(lock).fetch_xor(FUTEX_OWNER_DIED,
                                                        std::memory_order_relaxed);
  }

  const shm::Segment& segment_;
  int rank_;
};

class MortalJob {
 public:
  MortalJob(const std::vector<Case>& cases, const Fate& fate, std::uint64_t seed)
      : cases_(cases),
        fate_(fate),
        moments_(fate.end_at.size()),
        gone_(fate.end_at.size()),
        draws_(seed),
        leaves_early_(draws_.below(2) == 0),
        starts_of_ten_(1 + draws_.below(9)),
        turns_(size(), draws_.next()),
        segment_(shm::Segment::create_anonymous({.world_size = size(),
                                                 .arena_bytes = std::size_t{1} << 28,
                                                 .on_peer_failure = fate.policy})) {}

  // What went wrong, "" if nothing.
  std::string run() {
    current = this;
    fault_handler = [](const char* name) {
      if (current_rank < 0) return;
      // Who dies throws in the end, and who tells of a failure or of an end must not: others kill
      // it there, stopped_telling_test and liveness_test.
      const std::string_view point(name);
      const bool must_not_throw = point.starts_with("failure.") || point.starts_with("end.");
      must_not_throw ? current->pass(current_rank) : current->live_through_a_moment(current_rank);
    };
    turns_.run([this](int rank) { live(rank); });
    fault_handler = nullptr;
    current = nullptr;
    return finding_;
  }

  // How many moments the rank has lived through.
  std::uint64_t moments(int rank) const { return moments_[static_cast<std::size_t>(rank)]; }

 private:
  static inline MortalJob* current = nullptr;
  static inline thread_local int current_rank = -1;

  int size() const { return static_cast<int>(moments_.size()); }

  void live(int rank) {
    try {
      const auto segment = draws_.below(2) == 0 ? segment_ : segment_->map_again();
      distributed::ProcessGroup group =
          distributed::attach_rank(segment, rank, std::chrono::hours(24));
      SteppedRank stepped(group, cases_,
                          [this](std::uint64_t number) { return contributors_of(number); });
      current_rank = rank;
      try {
        step(stepped, group, rank);
      } catch (...) {
        current_rank = -1;
        throw;
      }
      current_rank = -1;
      ++ended_;
      // The others' last operations may end before this rank leaves, or afterwards.
      while (!leaves_early_ && finding_.empty() && ended_ + deaths_ < size()) pass(rank);
    } catch (const std::exception& error) {
      tell("rank " + std::to_string(rank) + " threw: " + error.what());
    }
  }

  void step(SteppedRank& stepped, distributed::ProcessGroup& group, int rank) {
    try {
      while (finding_.empty() && !stepped.done()) {
        pass(rank);
        if (stepped.can_start() && draws_.below(10) < starts_of_ten_) {
          if (fate_.leaves_group && is_last_moment(rank)) return leave(group, rank);
          live_through_a_moment(rank);
          stepped.start();
        } else {
          tell(stepped.look_at_one(draws_));
        }
      }
    } catch (const PeerFailure& failure) {
      if (fate_.policy != PeerFailurePolicy::raise || !is_gone(failure.rank())) throw;
    }
  }

  bool is_gone(int rank) const { return gone_[static_cast<std::size_t>(rank)]; }

  bool is_last_moment(int rank) const {
    return moments(rank) + 1 >= fate_.end_at[static_cast<std::size_t>(rank)];
  }

  void live_through_a_moment(int rank) {
    const bool dies = is_last_moment(rank) && !fate_.leaves_group;
    ++moments_[static_cast<std::size_t>(rank)];
    if (dies) {
      const Death death(*segment_, rank);
      gone_[static_cast<std::size_t>(rank)] = true;
      ++deaths_;
      turns_.stop(rank);
    }
    pass(rank);
  }

  // Leaves the group for good, and does other things for a while.
  void leave(distributed::ProcessGroup& group, int rank) {
    gone_[static_cast<std::size_t>(rank)] = true;
    group.engine().leave_behind("no more");
    for (std::size_t i = draws_.below(300); i > 0 && finding_.empty(); --i) {
      group.engine().job().progress();
      pass(rank);
    }
  }

  void pass(int rank) {
    let_time_pass(std::chrono::microseconds(draws_.below(2'000)));
    if (turns_.passes() > kPassesMax) tell("somebody waits for ever");
    turns_.pass(rank);
  }

  // Who has posted it. Who hasn't gone must have. Where a death is a failure nobody may be missing.
  Contributors contributors_of(std::uint64_t number) {
    if (fate_.policy == PeerFailurePolicy::raise) return everyone(size());
    Contributors posted;
    for (int rank = 0; rank < size(); ++rank) {
      if (last_posted(segment_->member_block(0, rank)) >= number) {
        posted.insert(rank);
      } else if (!is_gone(rank)) {
        tell("operation " + std::to_string(number) + " ended before rank " + std::to_string(rank) +
             " had arrived");
      }
    }
    return posted;
  }

  void tell(const std::string& finding) {
    if (finding_.empty()) finding_ = finding;
  }

  const std::vector<Case>& cases_;
  Fate fate_;
  std::vector<std::uint64_t> moments_;
  std::vector<bool> gone_;
  Draws draws_;
  bool leaves_early_;
  std::size_t starts_of_ten_;
  RanksInTurns turns_;
  std::shared_ptr<shm::Segment> segment_;
  int ended_ = 0;
  int deaths_ = 0;
  std::string finding_;
};

// Kinds, types and sizes that go every way that data take.
std::vector<Case> any_cases(int world_size, std::size_t count, Draws& draws) {
  constexpr std::size_t kBytesMax[] = {40, 3'000, 40'000, 300'000};
  std::vector<Case> cases;
  std::uint64_t random = draws.next();
  while (cases.size() < count) {
    cases.push_back(any_case(world_size, random, kBytesMax[draws.below(4)]));
  }
  return cases;
}

std::string run_seed(std::uint64_t seed, bool leaves_group, PeerFailurePolicy policy) {
  Draws draws(seed);
  const int world_size = 2 + static_cast<int>(draws.below(4));
  const std::vector<Case> cases = any_cases(world_size, 4 + draws.below(20), draws);
  Fate fate(world_size);
  fate.leaves_group = leaves_group;
  fate.policy = policy;
  const std::size_t most = 1 + draws.below(static_cast<std::size_t>(world_size) - 1);
  for (std::size_t i = 0; i < most; ++i) {
    const std::uint64_t moments = 1 + draws.below(cases.size() * 10);
    fate.end_at[draws.below(fate.end_at.size())] = 1 + draws.below(moments);
  }
  // One stays, to tell.
  fate.end_at[draws.below(fate.end_at.size())] = kNever;
  return MortalJob(cases, fate, draws.next()).run();
}

void run_seeds(const char* test, bool leaves_group, PeerFailurePolicy policy) {
  constexpr std::uint64_t kSchedules = worlds::kSanitized ? 40 : 200;
  const std::uint64_t seed = worlds::seed_of_test(test);
  for (std::uint64_t i = 0; i < kSchedules; ++i) {
    const std::string finding = run_seed(seed + i, leaves_group, policy);
    BOOST_TEST(finding == "", "TENSORPLAY_TEST_SEED=" << seed + i << ": " << finding);
    if (!finding.empty()) return;
  }
  std::printf("%d schedules\n", static_cast<int>(kSchedules));
}

// Has the last rank die at each of its moments, in the schedule of the seed.
void die_at_every_moment(const std::vector<Case>& cases, int world_size, std::uint64_t seed) {
  Fate fate(world_size);
  MortalJob undisturbed(cases, fate, seed);
  BOOST_TEST(undisturbed.run() == "");
  const std::uint64_t moments = undisturbed.moments(world_size - 1);
  for (std::uint64_t moment = 1; moment <= moments; ++moment) {
    fate.end_at.back() = moment;
    const std::string finding = MortalJob(cases, fate, seed).run();
    BOOST_TEST(finding == "", "TENSORPLAY_TEST_SEED=" << seed << ", death at moment " << moment
                                                      << ": " << finding);
    if (!finding.empty()) return;
  }
  std::printf("%d ranks: death at each of %d moments\n", world_size, static_cast<int>(moments));
}

BOOST_AUTO_TEST_SUITE(surviving_exchange)

BOOST_AUTO_TEST_CASE(survivors_are_right_whenever_others_die_in_any_order_of_steps) {
  run_seeds("deaths", false, PeerFailurePolicy::continue_without);
}

BOOST_AUTO_TEST_CASE(survivors_are_right_whenever_others_leave_in_any_order_of_steps) {
  run_seeds("leaving", true, PeerFailurePolicy::continue_without);
}

BOOST_AUTO_TEST_CASE(where_a_death_is_a_failure_no_wrong_result_is_taken_for_a_right_one) {
  run_seeds("deaths that raise", false, PeerFailurePolicy::raise);
}

BOOST_AUTO_TEST_CASE(survivors_are_right_at_whatever_moment_a_rank_dies) {
  constexpr std::size_t kLarge = 2 * shm::kChunkBytes / 4 + 100;
  const std::uint64_t seed = worlds::seed_of_test("death at every moment");
  const std::vector<Case> cases{
      {.kind = CollectiveKind::all_reduce, .dtype = DType::int64, .count = 3},
      {.kind = CollectiveKind::all_reduce, .dtype = DType::float32, .count = kLarge},
      {.kind = CollectiveKind::all_gather, .dtype = DType::int32, .count = 20'000},
      {.kind = CollectiveKind::broadcast, .dtype = DType::bfloat16, .root = 1, .count = 50'000},
      {.kind = CollectiveKind::all_reduce,
       .dtype = DType::float16,
       .op = ReduceOp::avg,
       .count = 30'000},
      {.kind = CollectiveKind::reduce_scatter, .dtype = DType::float64, .count = 4'000},
  };
  for (int world_size = 2; world_size <= (worlds::kSanitized ? 3 : 5); ++world_size) {
    die_at_every_moment(cases, world_size, seed + static_cast<std::uint64_t>(world_size));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::conformance
