#include "lib/algorithms/iteration_work.h"

#include "lib/distributed/engine_directory.h"
#include "lib/sync/join_board.h"

#include <tensorplay/error.h>

#include <chrono>
#include <string>

namespace tensorplay::distributed::algorithms {
namespace {

sync::JoinBoardReading read(const GroupEngine& engine, int member, std::uint64_t generation) {
  return sync::read_board(sync::board_of(engine.memory().member(member), generation), generation);
}

// Whether the member has told if it is active in the iteration.
bool has_told(const GroupEngine& engine, int member, std::uint64_t generation,
              std::uint64_t iteration) {
  const sync::JoinBoardReading reading = read(engine, member, generation);
  return reading.joined || reading.passed || reading.iterations >= iteration ||
         engine.membership().lost.contains(member);
}

class AllHaveTold final : public sync::Condition {
 public:
  AllHaveTold(GroupEngine& engine, std::uint64_t generation, std::uint64_t iteration,
              std::optional<std::chrono::nanoseconds> timeout)
      : engine_(engine),
        generation_(generation),
        iteration_(iteration),
        since_(std::chrono::steady_clock::now()),
        timeout_(timeout) {}

  bool poll() override {
    engine_.job().progress();
    while (next_ < engine_.size() && !awaits(next_)) ++next_;
    return next_ == engine_.size();
  }
  void check(std::chrono::steady_clock::time_point now) override {
    AwaitedEvent event{"in iteration " + std::to_string(iteration_) + " of the Join context", 0,
                       since_, engine_.job().timeout()};
    event.call_timeout = timeout_;
    engine_.check_awaited([this](int member) { return awaits(member); }, event, now);
  }
  std::uint32_t sleeping_for() const override { return shm::kAnyRank; }
  sync::Waiting waiting_for() const override {
    return {shm::Doing::iteration, engine_.memory().slot(), {}, {}, iteration_};
  }
  // Announcements ring nobody.
  std::chrono::nanoseconds slice() const override { return std::chrono::milliseconds(1); }

 private:
  bool awaits(int member) const { return !has_told(engine_, member, generation_, iteration_); }

  GroupEngine& engine_;
  std::uint64_t generation_;
  std::uint64_t iteration_;
  std::chrono::steady_clock::time_point since_;
  std::optional<std::chrono::nanoseconds> timeout_;
  int next_ = 0;
};

}  // namespace

std::optional<Work> IterationWork::of(const GroupEngine& engine, std::uint64_t iteration) noexcept {
  const auto make = [](const WorkOrigin& origin) -> std::shared_ptr<WorkState> {
    return std::make_shared<IterationWork>(origin.group, origin.generation, origin.iteration);
  };
  // In its place at once: to copy it would take longer than all the rest.
  return std::optional<Work>(std::in_place, make, engine.directory_number(),
                             engine.membership().generation, iteration);
}

std::shared_ptr<GroupEngine> IterationWork::engine() const {
  auto engine = find_engine(engine_);
  if (!engine) throw InvalidArgument("the process group of this notification was given up");
  return engine;
}

Contributors IterationWork::wait(std::optional<std::chrono::nanoseconds> timeout) {
  const auto group = engine();
  const UseGuard guard(group->job());
  group->throw_if_failed();
  AllHaveTold condition(*group, generation_, iteration_, timeout);
  group->wait_for(condition);
  return contributors();
}

bool IterationWork::is_completed() {
  const auto group = engine();
  const UseGuard guard(group->job());
  AllHaveTold condition(*group, generation_, iteration_, std::nullopt);
  if (condition.poll()) return true;
  group->look_now_and_then(condition);
  return group->failed();
}

Contributors IterationWork::contributors() const {
  const auto group = engine();
  Contributors active;
  for (int m = 0; m < group->size(); ++m) {
    if (!has_told(*group, m, generation_, iteration_)) {
      throw InvalidArgument(
          "the active ranks of an iteration are known once all have told; wait() first");
    }
    const sync::JoinBoardReading reading = read(*group, m, generation_);
    if (reading.passed) {
      throw InvalidArgument(
          "this notification is two Join contexts old; ask for its result within its own context");
    }
    if (reading.iterations >= iteration_) active.insert(m);
  }
  return active;
}

}  // namespace tensorplay::distributed::algorithms
