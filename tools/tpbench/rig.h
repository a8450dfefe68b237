// The measuring rig: memory that tpbench shares with the ranks of one job that it measures, ours or
// a peer's. Ranks take orders from it, start together by it, and leave their times in it.
//
// Whoever has no order sleeps on a futex: of the jobs that are measured in turns only one uses the
// CPUs.
//
//     tpbench: order ──> all ranks perform it ──> times, or an error ──> tpbench
#pragma once

#include "lib/multiprocessing/file_descriptor.h"
#include "tools/tpbench/point.h"

#include <sched.h>
#include <sys/types.h>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tensorplay::tpbench {

inline constexpr int kRanksMax = 32;
inline constexpr std::size_t kSamplesMax = 8192;

enum class Task : std::uint8_t {
  collective,    // all jobs but that of the limits
  copy,          // the others: the job of the limits only, see limits.h
  hand_over,     // of point.bytes, one way
  line,          // a cache line, one way
  yield_switch,  // between two processes on one core, by sched_yield
  pipe_switch,   // the same through a pipe
  futex_wake,    // from the call until the sleeper runs on another core
  leave,         // the job ends
};

// One thing to do, for all ranks of a job. A value in shared memory.
struct Order {
  Task task = Task::collective;
  Point point = {};
  // How long all samples together may take, about, and how many there are; 0 samples: as many as
  // fit in.
  double budget_s = 0.05;
  std::size_t samples = 0;
  Start start = Start::automatic;
  bool verify = false;          // also compare a whole result with the serial computation
  bool bind = false;            // rank r to the r-th usable CPU, round and round; false: to all
  bool oversubscribed = false;  // more ranks than CPUs
  bool streaming = false;       // hand_over: stores that go past the cache
};

// How many operations are timed together, and how often. Agreed on by all ranks of a job.
struct Plan {
  std::size_t batch = 1;
  std::size_t samples = 1;
};

// What lies in the shared memory. Zero at first.
struct RigMemory {
  // Words that different ranks write lie in lines of their own.
  struct alignas(128) Line {
    std::atomic<std::uint64_t> word;
  };
  struct Rank {
    Line epoch;  // how often this rank has met the others
    Line ball;   // for the tasks that pass something to and fro
    std::size_t sample_count;
    std::array<double, kSamplesMax> samples;  // seconds per operation
  };

  pid_t owner;
  int ranks;
  cpu_set_t cpus;  // that may be used
  Order order;
  Plan plan;
  alignas(128) std::atomic<std::uint32_t> order_number;  // ranks sleep on it
  alignas(128) std::atomic<std::uint32_t> done;          // ranks that have; tpbench sleeps on it
  alignas(128) std::atomic<std::uint32_t> failed;  // 1: a rank is writing, 2: `error` is there
  alignas(128) std::atomic<std::uint32_t> bell;    // of Task::futex_wake, and when it was rung:
  alignas(128) std::atomic<std::int64_t> rung_at;  // nanoseconds of the steady clock
  std::array<char, 512> error;
  alignas(128) std::array<Rank, kRanksMax> rank;
};

// A mapping of that memory, in any process. Throws std::system_error.
class Rig {
 public:
  static Rig make(int ranks);                // by tpbench, for the CPUs it may use itself
  static Rig open(const std::string& path);  // by a peer
  Rig(Rig&& other) noexcept;
  Rig& operator=(Rig&&) = delete;
  ~Rig();

  RigMemory& memory() const noexcept { return *memory_; }
  // Where other processes of this user open it as long as tpbench lives.
  std::string path() const;

 private:
  explicit Rig(multiprocessing::FileDescriptor file);

  multiprocessing::FileDescriptor file_;
  RigMemory* memory_;
};

// What a rank throws where another one has failed: no news.
struct OtherRankFailed {};

// One rank's side of the rig.
class RigRank {
 public:
  RigRank(Rig& rig, int rank) noexcept;

  int rank() const noexcept { return rank_; }
  int ranks() const noexcept { return memory_.ranks; }
  RigMemory& memory() const noexcept { return memory_; }

  // Returns as soon as all ranks have come here. Spins; gives the CPU away where there are more
  // ranks than CPUs. Throws OtherRankFailed.
  void meet();
  // The same word for all ranks: what rank 0 passes.
  Plan agree(const Plan& plan);

  void note(double seconds) noexcept;  // a sample; more than kSamplesMax are dropped

  // Tells that this rank is there, then performs orders until the one to leave, or until tpbench
  // has gone. What `perform` throws is told to tpbench and passed on.
  void serve(const std::function<void(RigRank&, const Order&)>& perform);

 private:
  // False if tpbench has gone.
  bool await_order(std::uint32_t& seen) const;
  void perform_one(const std::function<void(RigRank&, const Order&)>& perform);
  void tell_done() noexcept;
  void tell(const char* error) noexcept;
  void bind() const;

  RigMemory& memory_;
  int rank_;
  std::uint64_t epoch_;
};

// Sample by sample the greatest that any rank has noted.
std::vector<double> slowest_samples(const RigMemory& memory);

// The `index`-th usable CPU, round and round; all of them.
void bind_to(const cpu_set_t& cpus, int index);
void bind_to_all(const cpu_set_t& cpus);
int count_of(const cpu_set_t& cpus) noexcept;

// Lets the other hardware thread of a core work, between two looks at a word.
void relax() noexcept;

}  // namespace tensorplay::tpbench
