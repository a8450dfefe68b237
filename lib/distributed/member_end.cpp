#include "lib/distributed/member_end.h"

#include "lib/sync/arrival.h"
#include "lib/sync/liveness.h"

#include <optional>

namespace tensorplay::distributed {
namespace {

using collectives::GroupMemory;

// Why it gave up the group, as far as it has told.
std::string raised_text(const GroupMemory& memory, int member) {
  const std::string reason = sync::departure_text(memory.member(member));
  if (!reason.empty()) return reason;
  const sync::EndOfLife end = sync::end_of(memory.life(member));
  const bool told = end.known && end.cause == PeerFailure::Cause::raised;
  return "gave up the group because " + (told ? "it " + end.text : "of an exception");
}

// How it left the group before its end, if it did.
std::optional<MemberEnd> departure_of(const GroupMemory& memory, int member) {
  if (!sync::has_attached(memory.life(member))) return std::nullopt;
  switch (sync::observe_departure(memory.member(member))) {
    case shm::Departure::left:
      return MemberEnd{PeerFailure::Cause::exited, "gave up the group",
                       "All ranks must call the same collectives before they end"};
    case shm::Departure::raised:
      return MemberEnd{PeerFailure::Cause::raised, raised_text(memory, member),
                       "See that rank's own message"};
    case shm::Departure::none:
      break;
  }
  switch (sync::vitality(memory.segment(), memory.world_rank(member))) {
    case sync::Vitality::left:
      return MemberEnd{PeerFailure::Cause::exited, "left the job", "See that rank's own output"};
    case sync::Vitality::raised:
      return MemberEnd{PeerFailure::Cause::raised, "left the job because of an exception",
                       "See that rank's own message"};
    default:
      break;
  }
  return std::nullopt;
}

MemberEnd end_by(const sync::EndOfLife& end) {
  return {end.cause, end.text, "See that rank's own output", end.status};
}

}  // namespace

MemberEnd known_end_of_member(const GroupMemory& memory, int member) {
  if (const auto departure = departure_of(memory, member)) return *departure;
  return end_by(sync::end_of(memory.life(member)));
}

MemberEnd end_of_member(const GroupMemory& memory, int member) {
  if (const auto departure = departure_of(memory, member)) return *departure;
  return end_by(sync::await_end(memory.life(member)));
}

}  // namespace tensorplay::distributed
