// What notify_join_context gives: how many ranks are active in an iteration.
#pragma once

#include "lib/distributed/group_engine.h"
#include "lib/distributed/work_state.h"

#include <tensorplay/distributed/work.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace tensorplay::distributed::algorithms {

// Costs nothing unless somebody asks. Asked within its context, or before the next one begins.
class IterationWork final : public WorkState {
 public:
  IterationWork(std::uint64_t engine, std::uint64_t generation, std::uint64_t iteration) noexcept
      : engine_(engine), generation_(generation), iteration_(iteration) {}

  // The Work of one; nothing is made before somebody asks it.
  static std::optional<Work> of(const GroupEngine& engine, std::uint64_t iteration) noexcept;

  Contributors wait(std::optional<std::chrono::nanoseconds> timeout) override;
  bool is_completed() override;
  Contributors contributors() const override;
  std::int64_t result() override { return wait({}).count(); }

 private:
  std::shared_ptr<GroupEngine> engine() const;

  std::uint64_t engine_;  // its number in the directory
  std::uint64_t generation_;
  std::uint64_t iteration_;
};

}  // namespace tensorplay::distributed::algorithms
