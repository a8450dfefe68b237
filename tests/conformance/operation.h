// One collective of a test: makes its buffers, starts it, and checks everything that it did.
#pragma once

#include <tensorplay/distributed/process_group.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tensorplay::conformance {

using distributed::CollectiveKind;
using distributed::Contributors;
using distributed::ProcessGroup;
using distributed::ReduceOp;
using distributed::Work;

// Where the buffers of a rank lie.
enum class Memory {
  own,            // the process's
  shared,         // from allocate()
  some_shared,    // from allocate() on even ranks
  shared_source,  // source from allocate(), destination the process's
};

struct Case {
  CollectiveKind kind = CollectiveKind::barrier;
  DType dtype = DType::float32;
  ReduceOp op = ReduceOp::sum;
  int root = 0;
  std::size_t count = 0;  // elements of one rank's block
  bool in_place = false;  // where the kind has a choice
  Memory memory = Memory::own;
  std::size_t shift = 0;   // elements by which buffers miss a multiple of 64 bytes
  bool special = false;    // NaN and infinities among the values
  std::uint64_t salt = 0;  // other salt, other values
};

// "all_reduce float32 sum, 17 elements, root 0, in place": for findings.
std::string to_string(const Case& one);

// A collective between being made and being checked.
class Operation {
 public:
  virtual ~Operation() = default;

  virtual void start() = 0;
  virtual bool is_completed() = 0;
  virtual Contributors wait() = 0;

  // Waits, then compares contributors, destination, source and the surroundings of both with what
  // they should be. Gives what is wrong with the first thing that is; "" if nothing.
  virtual std::string finish(const Contributors& expected) = 0;
};

// `group` must outlive the operation's last wait; a copy of the handle is kept.
std::unique_ptr<Operation> make_operation(const ProcessGroup& group, const Case& one);

// All ranks of a group of that size.
Contributors everyone(int size);

// Starts, waits and checks one after the other. Stops at the first that is wrong, which the text
// names; "" if none is.
std::string run_cases(ProcessGroup& group, const std::vector<Case>& cases);

}  // namespace tensorplay::conformance
