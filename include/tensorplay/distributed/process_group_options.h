// How a process finds its group.
#pragma once

#include <tensorplay/distributed/peer_failure_policy.h>
#include <tensorplay/distributed/streaming_stores.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tensorplay::distributed {

// Who this process is, and which job it belongs to. All ranks of a job pass the same
// `world_size`, `job_name`, `launch`, `on_peer_failure`, `arena_bytes` and `streaming_stores`; the
// other fields are each rank's own.
struct ProcessGroupOptions {
  // Behaviour.
  int rank = -1;       // this process: 0 ... world_size - 1
  int world_size = 0;  // processes of the job: 1 ... kRankCountMax
  // What the ranks of one job share and no other job of this user has. Letters, digits, '.', '_'
  // and '-', at most 128 of them. Ranks that were forked by multiprocessing::spawn need none.
  std::string job_name;
  // Which start of that job this is, the same number on all of its ranks: two starts at once are
  // then told apart, and the later one is refused. 0: not known.
  std::uint64_t launch = 0;
  // How long any wait may last before it becomes a Timeout. Also the time within which all ranks
  // must have started. 1 ms to 10^10 ms.
  std::chrono::milliseconds timeout{std::chrono::minutes{5}};
  // Whether the ranks that are left go on when one of them dies.
  PeerFailurePolicy on_peer_failure = PeerFailurePolicy::raise;

  // Performance.
  // Address space for allocate(), per rank. Reserved, not used: memory is taken as it is allocated.
  std::size_t arena_bytes = std::size_t{1} << 30;
  // Whether large results are written past the caches.
  StreamingStores streaming_stores = StreamingStores::automatic;
};

// The options that the environment tells: which rank this is, of how many, in which job. The first
// of these that is set decides:
//   TENSORPLAY_JOB + RANK, WORLD_SIZE            tprun
//   RANK, WORLD_SIZE (+ TORCHELASTIC_RUN_ID, MASTER_ADDR, MASTER_PORT)   torchrun, or set by hand
//   OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE   Open MPI's mpirun
//   PMI_RANK, PMI_SIZE                           MPICH's and Intel's mpiexec
//   SLURM_PROCID, SLURM_NTASKS                   srun
// TENSORPLAY_TIMEOUT_S sets the time-out, in seconds; TENSORPLAY_ON_PEER_FAILURE, "raise" or
// "continue_without", what becomes of the others when a rank dies; TENSORPLAY_LAUNCH, any text,
// which start of the job this is: tprun sets it, of other launchers it is what names their jobs;
// TENSORPLAY_STREAMING_STORES, "auto", "never" or "always", how large results are written. A job
// that spans several hosts is refused. Throws InvalidArgument naming the variable, its value, and
// what would be right.
ProcessGroupOptions from_environment();

}  // namespace tensorplay::distributed
