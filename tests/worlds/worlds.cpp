#include "tests/worlds/worlds.h"

#include "lib/distributed/attach.h"
#include "tests/worlds/world_runners.h"

#include <cxxabi.h>

#include <cstdlib>
#include <typeinfo>
#include <utility>

namespace tensorplay::worlds {
namespace {

// The last part of a class's name: "PeerFailure".
std::string short_name(const std::type_info& type) {
  int status = 0;
  char* demangled = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string full = status == 0 ? demangled : type.name();
  std::free(demangled);
  const std::size_t colon = full.rfind("::");
  return colon == std::string::npos ? full : full.substr(colon + 2);
}

}  // namespace

const char* name(World world) noexcept {
  switch (world) {
    case World::threads_on_one_mapping:
      return "threads_on_one_mapping";
    case World::threads_on_own_mappings:
      return "threads_on_own_mappings";
    case World::forked_processes:
      return "forked_processes";
  }
  return "unknown";
}

std::string WorldResult::findings() const {
  std::string text;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankOutcome& outcome = ranks[rank];
    if (outcome.fine()) continue;
    text += "rank " + std::to_string(rank) + ": " + outcome.findings;
    if (outcome.signal != 0) text += " (ended by signal " + std::to_string(outcome.signal) + ")";
    if (!outcome.reported && !outcome.hung && outcome.signal == 0) {
      text += "left no report, exit code " + std::to_string(outcome.exit_code);
    }
    text += "\n";
  }
  return text;
}

std::string describe(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    return short_name(typeid(known)) + ": " + known.what();
  } catch (...) {
    return "something that is no std::exception";
  }
}

std::string live_as_rank(std::shared_ptr<shm::Segment> segment, int rank, const RankBody& body,
                         const WorldOptions& options) {
  try {
    distributed::ProcessGroup group =
        distributed::attach_rank(std::move(segment), rank, options.timeout);
    return body(group);
  } catch (...) {
    return describe(std::current_exception());
  }
}

WorldResult run_world(World world, int world_size, const RankBody& body,
                      const WorldOptions& options) {
  const std::shared_ptr<shm::Segment> segment =
      shm::Segment::create_anonymous({.world_size = world_size,
                                      .arena_bytes = options.arena_bytes,
                                      .on_peer_failure = options.on_peer_failure,
                                      .streaming_stores = options.streaming_stores});
  return world == World::forked_processes ? run_processes(segment, body, options)
                                          : run_threads(world, segment, body, options);
}

}  // namespace tensorplay::worlds
