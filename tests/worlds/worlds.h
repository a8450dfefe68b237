// One test body, several worlds: the ranks of a job as threads or as processes.
//
// A body runs once per rank with that rank's group, and tells what it found wrong as text; it never
// asserts itself, because Boost.Test's assertions work in the main thread of the parent only.
//
//     const WorldResult result = run_world(World::forked_processes, 4, [](ProcessGroup& group) {
//       Findings found;
//       std::int64_t one = 1;
//       group.all_reduce(std::span(&one, 1));
//       found.equal(one, 4, "the sum of the ones");
//       return found.text();
//     });
//     BOOST_TEST(result.findings() == "");
//
// What each world is for:
//   threads_on_one_mapping    the thread sanitizer, which knows nothing of other processes
//   threads_on_own_mappings   each rank sees the segment elsewhere: finds addresses put into it
//   forked_processes          what users run; ranks can be killed
//
// No world can hang: what hasn't ended when the watchdog's time is over is named, with what it was
// doing.
#pragma once

#include <tensorplay/distributed/peer_failure_policy.h>
#include <tensorplay/distributed/process_group.h>
#include <tensorplay/distributed/streaming_stores.h>

#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <vector>

namespace tensorplay::worlds {

enum class World { threads_on_one_mapping, threads_on_own_mappings, forked_processes };

const char* name(World world) noexcept;

struct WorldOptions {
  // The time-out of the group that the bodies get.
  std::chrono::milliseconds timeout{std::chrono::seconds{60}};
  // How much longer than that a rank may take before the watchdog ends it.
  std::chrono::milliseconds grace{std::chrono::seconds{30}};
  // Room for allocate(), per rank.
  std::size_t arena_bytes = std::size_t{64} << 20;
  distributed::PeerFailurePolicy on_peer_failure = distributed::PeerFailurePolicy::raise;
  distributed::StreamingStores streaming_stores = distributed::StreamingStores::automatic;
};

// How one rank ended.
struct RankOutcome {
  bool reported = false;  // the body returned or threw: `findings` is what it said
  std::string findings;   // "" if the rank found nothing wrong; "Class: text" for what it threw
  bool hung = false;      // the watchdog ended it: `findings` says what it was doing
  int exit_code = 0;      // of its process, in the world of processes
  int signal = 0;         // that ended its process, 0 for none
  std::chrono::nanoseconds ended_after{0};  // since the world was started

  bool fine() const { return reported && findings.empty(); }
};

struct WorldResult {
  std::vector<RankOutcome> ranks;

  // One line per rank that wasn't fine; "" if all were.
  std::string findings() const;
};

using RankBody = std::function<std::string(distributed::ProcessGroup&)>;

// Runs `body` on every rank of a new job and waits for all of them. In the world of processes the
// caller must have one thread, and what the children write into memory stays theirs. A world of
// threads that hangs can't be ended: the whole program is aborted, after saying which ranks hung.
WorldResult run_world(World world, int world_size, const RankBody& body,
                      const WorldOptions& options = {});

// "PeerFailure: text": the class, without its namespace, and the text.
std::string describe(const std::exception_ptr& error);

}  // namespace tensorplay::worlds
