// Our collectives as they are measured: through the public calls, on memory of each kind.
#pragma once

#include "tools/tpbench/measurement.h"
#include "tools/tpbench/private_memory.h"

#include <tensorplay/distributed/process_group.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tensorplay::tpbench {

// One point on one rank. Holds the buffers.
class OwnSubject {
 public:
  OwnSubject(distributed::ProcessGroup& group, const Point& point);
  OwnSubject(const OwnSubject&) = delete;
  OwnSubject& operator=(const OwnSubject&) = delete;
  ~OwnSubject();

  // Collective: of results that all ranks read. Without it they stay until the job ends, which it
  // does after an error.
  void give_back_shared();

  const Subject& get() const noexcept { return subject_; }

 private:
  std::span<std::byte> allocate(std::size_t bytes);
  Subject::Buffers make_buffers();

  distributed::ProcessGroup& group_;
  Point point_;
  std::vector<PrivateMemory> private_;
  std::vector<std::span<std::byte>> allocated_;
  std::vector<std::span<const std::uint8_t>> shared_;  // results that all ranks read
  Subject subject_;
};

}  // namespace tensorplay::tpbench
