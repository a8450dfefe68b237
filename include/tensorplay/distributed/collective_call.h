// What one call of a collective asks for: the typed methods of ProcessGroup reduce to this.
#pragma once

#include <tensorplay/distributed/reduce_op.h>
#include <tensorplay/element.h>

#include <cstddef>
#include <cstdint>

namespace tensorplay::distributed {

// The collectives. Part of the segment's binary interface: values are fixed.
enum class CollectiveKind : std::uint8_t {
  barrier = 1,
  all_reduce = 2,
  reduce = 3,
  broadcast = 4,
  all_gather = 5,
  reduce_scatter = 6,
  gather = 7,
  scatter = 8,
  all_to_all = 9,
  all_reduce_shared = 10,
};

// "barrier" ... "all_reduce_shared"; "unknown" for a value that names no collective.
const char* name(CollectiveKind kind) noexcept;

// The public call that a collective is a part of: for messages. Values are fixed, too.
enum class CallPurpose : std::uint8_t {
  itself = 0,
  split = 1,
  model_check = 2,  // DistributedDataParallel's: do the ranks pass the same model?
  model_copy = 3,   // of one rank's parameters to all
  buffer_copy = 4,
  gradients = 5,
  allocate_shared = 6,
  deallocate_shared = 7,
};

// "split()", "DistributedDataParallel's gradients", ...; "" for itself and for unknown values.
const char* name(CallPurpose purpose) noexcept;

// One call. `count` is in elements of one rank's block: the whole buffer where there are no blocks.
// Pointers that the kind doesn't use, on this rank, may be null.
struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::barrier;
  DType dtype = DType::uint8;
  ReduceOp op = ReduceOp::sum;
  int root = 0;
  std::size_t count = 0;
  const void* source = nullptr;
  void* destination = nullptr;
  std::uint16_t tag = 0;  // the Joinable that makes the call: 1 + its place in the list; 0: none
  CallPurpose purpose = CallPurpose::itself;
};

}  // namespace tensorplay::distributed
