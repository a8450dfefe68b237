// What a Work refers to.
#pragma once

#include <tensorplay/distributed/contributors.h>

#include <chrono>
#include <cstdint>
#include <optional>

namespace tensorplay::distributed {

// The four questions that a Work can be asked; see Work for their meaning.
class WorkState {
 public:
  virtual ~WorkState() = default;
  // `timeout`: of this call; none for the group's only.
  virtual Contributors wait(std::optional<std::chrono::nanoseconds> timeout) = 0;
  virtual bool is_completed() = 0;
  virtual Contributors contributors() const = 0;
  virtual std::int64_t result() = 0;
};

}  // namespace tensorplay::distributed
