#include "lib/distributed/report.h"

#include "lib/sync/arrival.h"
#include "lib/sync/liveness.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <vector>

namespace tensorplay::distributed {
namespace {

std::string seconds(std::chrono::nanoseconds duration) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f s", std::chrono::duration<double>(duration).count());
  return text;
}

CollectiveCall call_of(const shm::ArrivalLine& line) {
  return {line.kind, line.dtype, line.op, line.root, line.count, nullptr, nullptr};
}

// The Join context that an arrival was made in.
std::string describe_context(const shm::MemberBlock& member, const shm::ArrivalLine& line) {
  if (line.context == 0) return " outside of a Join context";
  for (const shm::JoinBoard& board : member.boards) {
    if (board.fingerprint != line.context) continue;
    return " in Join " +
           std::string(board.config.data(), strnlen(board.config.data(), board.config.size()));
  }
  return " in a disabled Join context";
}

// The members that have arrived at the operation and are active.
std::vector<int> arrived_members(const collectives::GroupMemory& memory, std::uint64_t number) {
  std::vector<int> members;
  for (int m = 0; m < memory.size(); ++m) {
    const shm::ArrivalLine& line = sync::arrival_line(memory.member(m), number);
    if (sync::observe_arrival(line, number) != sync::Arrival::arrived) continue;
    if ((line.flags & shm::kShadow) == 0) members.push_back(m);
  }
  return members;
}

// "is busy elsewhere after operation 11 (running)".
std::string whereabouts(const collectives::GroupMemory& memory, int member) {
  const shm::Life& life = memory.life(member);
  switch (sync::vitality(memory.segment(), memory.world_rank(member))) {
    case sync::Vitality::absent:
      return "has not started";
    case sync::Vitality::left:
    case sync::Vitality::raised:
      return "has left the job";
    case sync::Vitality::vanished:
      return sync::end_of(life).text;
    case sync::Vitality::alive:
      break;
  }
  const std::uint64_t last = last_posted(memory.member(member));
  const std::string activity = sync::activity_of(life);
  return "lives (" + sync::process_label(life) + (activity.empty() ? "" : ", " + activity) + "), " +
         (last == 0 ? "has not called any collective of this group"
                    : "its last collective here was operation " + std::to_string(last));
}

}  // namespace

std::uint64_t last_posted(const shm::MemberBlock& member) {
  std::uint64_t last = 0;
  for (const shm::ArrivalLine& line : member.arrivals) {
    last = std::max(last, sync::posted_number(line));
  }
  return last;
}

std::string describe(const CollectiveCall& call) {
  if (call.kind == CollectiveKind::barrier) return "barrier";
  const collectives::Shape shape = collectives::Shape::of(call, 1);
  std::string text = std::string(name(call.kind)) + " (";
  if (shape.reduces()) text += std::string(name(call.op)) + ", ";
  text += std::string(name(call.dtype)) + ", " + std::to_string(call.count) +
          (call.count == 1 ? " element" : " elements");
  if (shape.has_root()) text += ", root " + std::to_string(call.root);
  return text + ")";
}

std::string rank_label(const collectives::GroupMemory& memory, int member) {
  const std::string label = "rank " + std::to_string(member);
  const int world_rank = memory.world_rank(member);
  if (memory.slot() == 0) return label;
  return label + " (rank " + std::to_string(world_rank) + " of the job)";
}

std::string describe_mismatch(const collectives::GroupMemory& memory, std::uint64_t number) {
  const std::vector<int> members = arrived_members(memory, number);
  const auto line_of = [&](int m) -> const shm::ArrivalLine& {
    return sync::arrival_line(memory.member(m), number);
  };
  const bool contexts_differ = std::any_of(members.begin(), members.end(), [&](int m) {
    return line_of(m).context != line_of(members.front()).context;
  });
  std::map<std::string, Contributors> callers;
  for (const int m : members) {
    std::string what = describe(call_of(line_of(m)));
    if (contexts_differ) what += describe_context(memory.member(m), line_of(m));
    callers[what].insert(m);
  }
  std::string text =
      "the ranks disagree about operation " + std::to_string(number) + " of the group";
  const char* separator = ": ";
  for (const auto& [what, ranks] : callers) {
    text += separator + to_string(ranks) + (ranks.count() == 1 ? " calls " : " call ") + what;
    separator = "; ";
  }
  return text + (contexts_differ
                     ? ". Enter the same contexts, with the same Joinables, flags and arguments"
                     : ". All ranks must call the same collectives in the same order");
}

MemberEnd end_of_member(const collectives::GroupMemory& memory, int member) {
  const std::string reason = sync::departure_text(memory.member(member));
  switch (sync::observe_departure(memory.member(member))) {
    case shm::Departure::left:
      return {PeerFailure::Cause::exited, "gave up the group"};
    case shm::Departure::raised:
      return {PeerFailure::Cause::raised,
              reason.empty() ? "gave up the group because of an exception" : reason};
    case shm::Departure::none:
      break;
  }
  switch (sync::vitality(memory.segment(), memory.world_rank(member))) {
    case sync::Vitality::left:
      return {PeerFailure::Cause::exited, "left the job"};
    case sync::Vitality::raised:
      return {PeerFailure::Cause::raised, "left the job because of an exception"};
    default:
      break;
  }
  const sync::EndOfLife end = sync::await_end(memory.life(member));
  return {end.cause, end.text};
}

Failure lost_root(const collectives::GroupMemory& memory, int root, const std::string& what,
                  const Contributors& others) {
  const MemberEnd end = end_of_member(memory, root);
  return {shm::FailureKind::peer_failure, root, end.cause,
          what + ": the root, " + rank_label(memory, root) + " (" +
              sync::process_label(memory.life(root)) + "), " + end.text +
              "; still there: " + to_string(others) + ". Choose one of these as the root"};
}

Failure peer_failure(const collectives::GroupMemory& memory, int member, const std::string& what) {
  const MemberEnd end = end_of_member(memory, member);
  const std::string remedy =
      end.cause == PeerFailure::Cause::raised ? ". See that rank's own message"
      : sync::observe_departure(memory.member(member)) == shm::Departure::left
          ? ". All ranks must call the same collectives before they end"
          : ". See that rank's own output";
  return {shm::FailureKind::peer_failure, member, end.cause,
          rank_label(memory, member) + " (" + sync::process_label(memory.life(member)) + ") " +
              end.text + ", while the group waited for it in " + what + remedy};
}

Failure timeout_failure(const collectives::GroupMemory& memory, const Contributors& awaited,
                        const std::string& what, std::chrono::nanoseconds waited) {
  std::string text = rank_label(memory, memory.self()) + " waited " + seconds(waited) + " in " +
                     what + " for " + to_string(awaited);
  awaited.for_each([&](int member) {
    text += "; " + rank_label(memory, member) + " " + whereabouts(memory, member);
  });
  text += ". Find out what those ranks do instead, or raise the group's timeout";
  return {shm::FailureKind::timeout, awaited.highest(), PeerFailure::Cause::exited, text};
}

}  // namespace tensorplay::distributed
