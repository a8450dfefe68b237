// What is measured: one collective at one size. Shared by tpbench and its peers.
#pragma once

#include <tensorplay/distributed/collective_call.h>
#include <tensorplay/distributed/reduce_op.h>
#include <tensorplay/element.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace tensorplay::tpbench {

// Where our buffers lie. Peers know only their own memory.
enum class Memory : std::uint8_t {
  own,        // of the process: "private"
  allocated,  // from ProcessGroup::allocate()
  shared,     // the same, with the result in allocate_shared() memory: an all_reduce only
};

enum class Calls : std::uint8_t {
  blocking,      // "sync"
  asynchronous,  // "async": kCallsInFlight calls are started, on buffers of their own, then awaited
};

// How operations of up to kBatchedBytes follow each other: see measurement.h.
enum class Start : std::uint8_t {
  automatic,     // rooted ones together, others back to back
  together,      // all ranks start each operation at once: its latency
  back_to_back,  // each rank begins the next one as soon as it has ended one: its share of the time
};

inline constexpr int kCallsInFlight = 4;
inline constexpr int kRoot = 0;

// The peer that is shown, but not what anything is judged by.
inline constexpr const char* kGloo = "gloo";

// A value; lies in shared memory, too.
struct Point {
  distributed::CollectiveKind kind = distributed::CollectiveKind::all_reduce;
  DType dtype = DType::float32;
  distributed::ReduceOp op = distributed::ReduceOp::sum;
  Memory memory = Memory::own;
  Calls calls = Calls::blocking;
  int ranks = 2;
  // Of the larger one of a rank's two buffers. Rounded to whole elements per rank's block, at
  // least one: see whole_bytes().
  std::size_t bytes = 4;

  bool is_barrier() const noexcept { return kind == distributed::CollectiveKind::barrier; }
  bool is_in_place() const noexcept;  // one buffer is source and destination
  bool reduces() const noexcept;
  // Whether there is such a call of ours for buffers in that memory.
  bool can_lie_in(Memory place) const noexcept;
  // One rank only sends or only receives, and needs not wait for the others.
  bool is_rooted() const noexcept;
  // Elements of one rank's block, as CollectiveCall counts them.
  std::size_t block_count() const noexcept;
  std::size_t source_count() const noexcept;
  std::size_t destination_count() const noexcept;
  std::size_t whole_bytes() const noexcept;
  int buffer_sets() const noexcept { return calls == Calls::asynchronous ? kCallsInFlight : 1; }
};

const char* name(Memory memory) noexcept;  // "private", "allocated", "shared"
const char* name(Calls calls) noexcept;    // "sync", "async"
const char* name(Start start) noexcept;    // "auto", "together", "back_to_back"
// "all_reduce float32 sum, 2 ranks, 1 KiB"
std::string to_string(const Point& point);
// "4 B", "16 KiB", "64 MiB"
std::string bytes_text(std::size_t bytes);

}  // namespace tensorplay::tpbench
