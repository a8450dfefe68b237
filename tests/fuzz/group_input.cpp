#include "tests/fuzz/group_input.h"

#include "lib/distributed/attach.h"
#include "lib/distributed/group_engine.h"
#include "tests/fuzz/rival.h"

#include <tensorplay/distributed/algorithms/join.h>
#include <tensorplay/distributed/process_group.h>
#include <tensorplay/error.h>

#include <array>
#include <chrono>
#include <deque>
#include <memory>
#include <span>

namespace tensorplay::fuzz {
namespace {

using distributed::ProcessGroup;
using distributed::StreamingStores;
using distributed::WorkState;
using distributed::algorithms::Join;
using distributed::algorithms::Joinable;
using distributed::algorithms::JoinHook;
using distributed::algorithms::JoinKwargs;

constexpr std::chrono::milliseconds kTimeout{1};
constexpr std::array<std::size_t, 6> kCounts{0, 1, 7, 300, 5'000, 20'000};
constexpr std::size_t kBufferBytes = 20'000 * sizeof(double) * 2;

// All ranks of both sides call the same.
distributed::CollectiveCall call_of(InputBytes& input, void* source, void* destination) {
  distributed::CollectiveCall call;
  call.kind = static_cast<distributed::CollectiveKind>(1 + input.below(10));
  call.dtype = static_cast<DType>(1 + input.below(12));
  call.op = static_cast<distributed::ReduceOp>(input.below(8));
  call.root = static_cast<int>(input.below(2));
  call.count = kCounts[input.below(kCounts.size())];
  call.source = source;
  const bool in_place = call.kind == distributed::CollectiveKind::all_reduce ||
                        call.kind == distributed::CollectiveKind::reduce ||
                        call.kind == distributed::CollectiveKind::broadcast;
  call.destination = in_place ? source : destination;
  return call;
}

// Shadows one all_reduce per iteration.
class Shadowed final : public Joinable {
 public:
  explicit Shadowed(const ProcessGroup& group) : group_(group) {}

  void use() {
    Join::notify_join_context(*this);
    std::int64_t one = 1;
    group_.all_reduce(std::span(&one, 1));
  }
  std::unique_ptr<JoinHook> join_hook(const JoinKwargs&) override {
    class Hook final : public JoinHook {
     public:
      explicit Hook(ProcessGroup& group) : group_(group) {}
      void main_hook() override {
        std::int64_t none = 0;
        group_.all_reduce(std::span(&none, 1));
      }

     private:
      ProcessGroup& group_;
    };
    return std::make_unique<Hook>(group_);
  }
  ProcessGroup& join_process_group() override { return group_; }

 private:
  ProcessGroup group_;
};

class Rank {
 public:
  explicit Rank(const std::shared_ptr<shm::Segment>& segment)
      : rival_(segment),
        group_(distributed::attach_rank(segment, 0, kTimeout)),
        rival_group_(distributed::attach_rank(segment, 1, kTimeout)),
        shadowed_(group_),
        memory_(2 * kBufferBytes) {}

  // One step of either side. Throws errors of this library.
  void step(InputBytes& input) {
    switch (input.below(13)) {
      case 0:
      case 1:
        return start(input);
      case 2:
      case 3:
        return rival_.answer(input);
      case 4:
        return rival_.progress(input);
      case 5:
        return poll();
      case 6:
        return wait();
      case 7:
        return use_joinable(input);
      case 8:
        return finish();
      case 9:
        return rival_.show_board(input);
      case 10:
        return input.below(2) == 0 ? rival_.join(input) : rival_.be_absent(input);
      case 11:
        return input.below(8) == 0 ? split() : poll();
      default:
        return input.below(8) == 0 ? rival_.fail(input) : rival_.scribble(input);
    }
  }

 private:
  void start(InputBytes& input) {
    std::uint8_t* source = memory_.data();
    if (input.below(4) == 0) {
      if (arena_.empty()) arena_ = group_.allocate<std::uint8_t>(2 * kBufferBytes);
      source = arena_.data();
    }
    distributed::GroupEngine& engine = group_.engine();
    const distributed::UseGuard guard(engine.job());
    auto call = call_of(input, source, source + kBufferBytes);
    if (call.kind == distributed::CollectiveKind::all_reduce_shared) {
      call.destination = shared_result(engine);
    }
    works_.push_back(engine.start(call));
  }
  // As allocate_shared() would give it if the other side took part.
  std::byte* shared_result(distributed::GroupEngine& engine) {
    if (shared_result_ == nullptr) {
      shared_result_ = engine.job().arena().allocate(kBufferBytes);
      engine.shared_results().add(engine.memory().segment().offset_of(shared_result_),
                                  {shared_result_, kBufferBytes});
    }
    return shared_result_;
  }
  void poll() {
    for (const auto& work : works_) work->is_completed();
  }
  void wait() {
    if (works_.empty()) return;
    const auto work = works_.front();
    works_.pop_front();
    work->wait({});
  }
  void use_joinable(InputBytes& input) {
    if (!join_) {
      const bool throws = input.below(4) == 0;
      join_ = std::make_unique<Join>(
          distributed::algorithms::JoinableList{shadowed_},
          distributed::algorithms::JoinOptions{.throw_on_early_termination = throws});
    } else {
      shadowed_.use();
    }
  }
  void finish() {
    if (!join_) return;
    join_->finish();
    delete join_.release();
  }
  void split() { static_cast<void>(group_.split(0, 0)); }

  Rival rival_;
  ProcessGroup group_;
  ProcessGroup rival_group_;
  Shadowed shadowed_;
  std::vector<std::uint8_t> memory_;
  std::span<std::uint8_t> arena_;
  std::byte* shared_result_ = nullptr;
  std::deque<std::shared_ptr<WorkState>> works_;
  std::unique_ptr<Join> join_;

 public:
  ~Rank() {
    try {
      delete join_.release();  // reset() is noexcept, the end of a Join isn't
    } catch (const Error&) {
      // As it should.
    }
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;
};

}  // namespace

void drive_group_by(Bytes bytes) {
  InputBytes input(bytes);
  // The last choice is one that there isn't.
  constexpr std::array kChoices{StreamingStores::never, StreamingStores::always,
                                StreamingStores::automatic, static_cast<StreamingStores>(77)};
  const std::size_t way = input.below(2 * kChoices.size());
  Rank rank(shm::Segment::create_anonymous(
      {.world_size = 2,
       .arena_bytes = std::size_t{4} << 20,
       .on_peer_failure = static_cast<distributed::PeerFailurePolicy>(way % 2),
       .streaming_stores = kChoices[way / 2]}));
  // A group that has failed says the same for ever: some more calls, and no further.
  for (int errors = 0; errors < 4 && !input.is_empty();) {
    try {
      rank.step(input);
    } catch (const Error&) {
      ++errors;
    }
  }
}

namespace {

using Seeds = std::vector<std::vector<std::uint8_t>>;

// One collective of float32 of each kind and size, answered rightly, with progress and a wait.
void add_collectives(Seeds& seeds) {
  for (std::uint8_t kind = 0; kind < 10; ++kind) {
    for (std::uint8_t size = 1; size < 6; size += 2) {
      seeds.push_back({0, 0, 1, kind, 10, 0, 0, size, 2, 1, 0, 4, 0, 1, 1, 1, 5, 5, 6});
    }
    for (std::uint8_t way = 0; way < 8; ++way) {
      // A large one from the arena, answered with a place far outside; under either policy.
      seeds.push_back({way, 0, 0, kind, 10, 0, 1, 5, 2, 1, 1, 37, 0x7f, 6});
      // The largest, of float64, answered rightly, with all choices of streaming stores.
      seeds.push_back({way, 0, 1, kind, 11, 0, 0, 5, 2, 1, 0, 4, 0, 1, 1, 1, 5, 5, 6});
    }
  }
  // One with a shared result from the arena: answered rightly, with another place of the result,
  // and without a source.
  for (std::uint8_t policy = 0; policy < 2; ++policy) {
    for (std::uint8_t size = 1; size < 6; size += 2) {
      seeds.push_back({policy, 0, 0, 9, 10, 0, 0, size, 2, 1, 0, 4, 0, 1, 1, 1, 5, 5, 6});
      seeds.push_back({policy, 0, 0, 9, 10, 0, 0, size, 2, 1, 1, 41, 0x7f, 6});
      seeds.push_back({policy, 0, 0, 9, 10, 0, 0, size, 2, 1, 1, 19, 0, 4, 0, 1, 1, 1, 5, 5, 6});
    }
  }
}

// An answer with one byte of the line changed.
void add_changed_answers(Seeds& seeds) {
  for (std::uint8_t offset = 0; offset < 40; offset += 2) {
    seeds.push_back({0, 0, 1, 1, 10, 0, 0, 3, 2, 1, 1, offset, 0xff, 6});
  }
}

// Join contexts: entered by both, used, joined by the other; joined while the other goes on, with
// an operation as it should be, or with one byte of it changed.
void add_joins(Seeds& seeds) {
  seeds.push_back({0, 7, 1, 9, 1, 0, 7, 2, 1, 0, 10, 0, 1, 1, 0, 8});
  seeds.push_back({0, 7, 0, 9, 1, 0, 10, 0, 1, 1, 0, 8});
  seeds.push_back({1, 7, 1, 9, 1, 0, 10, 1, 1, 7, 8});
  for (std::uint8_t offset = 8; offset < 24; ++offset) {
    seeds.push_back({0, 7, 1, 9, 1, 0, 0, 1, 1, 10, 0, 0, 2, 2, 1, 0, 6, 2, 0, 1, offset, 0xff, 8});
  }
  seeds.push_back({0, 7, 1, 9, 1, 0, 0, 1, 1, 10, 0, 0, 2, 2, 1, 0, 6, 2, 0, 0, 8});
  // Far more iterations announced than there was time for.
  seeds.push_back({0,   7,  1,  9,  1, 146, 0, 0, 0, 2, 0, 4, 2,  1,   0, 6,
                   101, 95, 97, 23, 0, 110, 2, 0, 0, 0, 1, 0, 16, 255, 8});
}

}  // namespace

Seeds group_seeds() {
  Seeds seeds;
  add_collectives(seeds);
  add_changed_answers(seeds);
  add_joins(seeds);
  // A failure record out of nothing, in each state.
  for (std::uint8_t state = 1; state < 4; ++state) {
    seeds.push_back({0, 12, 3, 0, state, 0, 0, 0, 9, 0, 0, 0, 0, 0, 1, 0, 9, 0, 0, 3, 6, 6});
  }
  return seeds;
}

}  // namespace tensorplay::fuzz
