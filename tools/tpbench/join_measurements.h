// What a Join context costs, and what stands beside it: one function for each thing that is
// measured. Each starts its own ranks. Seconds, unless a name says otherwise; several samples.
#pragma once

#include <cstddef>
#include <vector>

namespace tensorplay::tpbench {

// How much of each: the defaults suit a figure, small ones a test.
struct JoinEffort {
  int notifications = 200'000;
  int iterations = 2'000;    // of small things
  int training_blocks = 20;  // of each kind
  int training_iterations = 40;
};

// Join::notify_join_context, called again and again by each of `ranks` ranks.
std::vector<double> time_notifications(int ranks, const JoinEffort& effort);
// The same under throw_on_early_termination, by `ranks` ranks: each waits for the others.
std::vector<double> time_agreeing_notifications(int ranks, const JoinEffort& effort);
// From the last rank's end of its loop until all have left the context; no hooks.
std::vector<double> time_joining(int ranks, const JoinEffort& effort);
// An iteration with one all_reduce of 8 bytes, of the ranks that are active while one has joined,
// asleep or in step, shadowing.
enum class Joined { asleep, in_step };
std::vector<double> time_iterations(int ranks, Joined joined, const JoinEffort& effort);
// all_reduce of `bytes` by the active ranks of a context, while `joined` others have joined.
std::vector<double> time_active_ranks(int active, int joined, std::size_t bytes,
                                      const JoinEffort& effort);

// Iterations of a DDP loop, block by block, the three kinds in turns.
struct TrainingTimes {
  std::vector<double> disabled;  // Join off
  std::vector<double> enabled;   // Join on, inputs even
  std::vector<double> uneven;    // Join on, all ranks but one have half of the inputs
};
TrainingTimes time_training(int ranks, const JoinEffort& effort);

// init_process_group of a job, from after the fork until it returns.
std::vector<double> time_init(int ranks);
// spawn(): from its call until a rank has its group, and until all ranks, which do nothing, have
// ended.
struct SpawnTimes {
  double ready = 0;  // the last rank's
  double end = 0;
};
SpawnTimes time_spawn(int ranks);
// Memory that a group's segment takes right after its start, in bytes.
double segment_bytes(int ranks);

}  // namespace tensorplay::tpbench
