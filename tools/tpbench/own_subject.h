// Our collectives as they are measured: through the public calls, on memory of either kind.
#pragma once

#include "tools/tpbench/measurement.h"
#include "tools/tpbench/private_memory.h"

#include <tensorplay/distributed/process_group.h>

#include <vector>

namespace tensorplay::tpbench {

// One point on one rank. Holds the buffers.
class OwnSubject {
 public:
  OwnSubject(distributed::ProcessGroup& group, const Point& point);
  OwnSubject(const OwnSubject&) = delete;
  OwnSubject& operator=(const OwnSubject&) = delete;
  ~OwnSubject();

  const Subject& get() const noexcept { return subject_; }

 private:
  std::span<std::byte> allocate(std::size_t bytes);

  distributed::ProcessGroup& group_;
  Point point_;
  std::vector<PrivateMemory> private_;
  std::vector<std::span<std::byte>> allocated_;
  Subject subject_;
};

}  // namespace tensorplay::tpbench
