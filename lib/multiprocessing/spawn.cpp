#include <tensorplay/multiprocessing/spawn.h>

#include "lib/base/exception_text.h"
#include "lib/distributed/attach.h"
#include "lib/distributed/environment.h"
#include "lib/multiprocessing/run_children.h"
#include "lib/shm/segment.h"

#include <tensorplay/distributed/contributors.h>

#include <memory>
#include <string>
#include <utility>

namespace tensorplay::multiprocessing {
namespace {

using distributed::kRankCountMax;
using distributed::ProcessGroup;

void check_world_size(int world_size) {
  if (world_size >= 1 && world_size <= kRankCountMax) return;
  throw InvalidArgument("spawn: world_size is " + std::to_string(world_size) +
                        "; it must be 1 ... " + std::to_string(kRankCountMax));
}

distributed::StreamingStores streaming_stores_of(const SpawnOptions& options) {
  if (options.streaming_stores) return *options.streaming_stores;
  return distributed::streaming_stores_of(distributed::Environment::of_this_process());
}

PeerFailure::Cause cause_of(const ChildEnd& end) {
  if (end.process.how == ProcessEnd::How::killed) return PeerFailure::Cause::killed;
  const bool returned = !end.report || end.report->kind == ChildReport::Kind::finished;
  return returned ? PeerFailure::Cause::exited : PeerFailure::Cause::raised;
}

}  // namespace

SpawnReport spawn(int world_size, const std::function<void(ProcessGroup&)>& body,
                  const SpawnOptions& options) {
  check_world_size(world_size);
  distributed::check_timeout(options.timeout);
  const std::shared_ptr<shm::Segment> segment =
      shm::Segment::create_anonymous({.world_size = world_size,
                                      .arena_bytes = options.arena_bytes,
                                      .on_peer_failure = options.on_peer_failure,
                                      .streaming_stores = streaming_stores_of(options)});

  // The group ends with this frame, by return or by unwinding: before the child reports.
  const auto live = [&](int rank) {
    ProcessGroup group = distributed::attach_rank(segment, rank, options.timeout);
    try {
      body(group);
    } catch (...) {
      // Before the group ends: then peers find the reason with it.
      distributed::record_end_of_rank(*segment, rank, PeerFailure::Cause::raised,
                                      "raised " + text_of_current_exception());
      throw;
    }
  };
  const bool others_go_on =
      options.on_peer_failure == distributed::PeerFailurePolicy::continue_without;
  SpawnReport report;
  const auto tell_end = [&](int rank, const ChildEnd& end) {
    const bool known = end.process.how != ProcessEnd::How::unknown;
    distributed::record_end_of_rank(*segment, rank, cause_of(end), end.text(),
                                    known ? end.process.code : PeerFailure::kUnknownStatus);
    const bool is_lost = others_go_on && end.process.how == ProcessEnd::How::killed;
    if (is_lost) report.lost.push_back({rank, end.pid, end.text()});
  };
  const auto failure = run_children(world_size, live,
                                    {.others_go_on = others_go_on,
                                     .stopped_grace = options.stopped_grace,
                                     .grace = options.grace,
                                     .on_end = tell_end});
  if (failure) {
    throw SpawnFailure(failure->rank, failure->exit_code, failure->message, std::move(report.lost));
  }
  return report;
}

}  // namespace tensorplay::multiprocessing
