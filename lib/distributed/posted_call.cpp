#include "lib/distributed/posted_call.h"

#include "lib/collectives/shape.h"
#include "lib/distributed/call_check.h"
#include "lib/sync/arrival.h"
#include "lib/sync/fence.h"

#include <algorithm>

namespace tensorplay::distributed {

namespace {

std::uint64_t place_of_result(const shm::ArrivalLine& line) noexcept {
  const bool has_place = line.kind == CollectiveKind::all_reduce_shared && line.count != 0;
  return has_place ? sync::named_place(line, shm::kResultPlace) : 0;
}

}  // namespace

std::optional<PostedCall> posted_call(shm::MemberBlock& member, std::uint64_t number,
                                      int world_size) {
  const shm::ArrivalLine& line = sync::arrival_line(member, number);
  if (number == 0 || sync::observe_arrival(line, number) != sync::Arrival::arrived) {
    return std::nullopt;
  }
  PostedCall posted;
  posted.number = number;
  posted.call = {line.kind, line.dtype, line.op,  line.root,   line.count,
                 nullptr,   nullptr,    line.tag, line.purpose};
  posted.place = place_of_result(line);
  posted.shadow = (line.flags & shm::kShadow) != 0;
  posted.context = line.context;
  // The member fills a line anew once it has posted the operation in the line before it.
  sync::full_fence();
  const auto& before = sync::arrival_line(member, number + shm::kOperationSlots - 1);
  if (sync::posted_number(before) > number) return std::nullopt;
  if (!is_sound(posted.call, world_size)) return std::nullopt;
  return posted;
}

std::uint64_t last_posted(const shm::MemberBlock& member) noexcept {
  std::uint64_t last = 0;
  for (const shm::ArrivalLine& line : member.arrivals) {
    last = std::max(last, sync::posted_number(line));
  }
  return last;
}

std::string describe(const CollectiveCall& call) {
  std::string text = name(call.kind);
  if (call.kind != CollectiveKind::barrier) {
    const collectives::Shape shape = collectives::Shape::of(call, 1);
    text += " (";
    if (shape.reduces()) text += std::string(name(call.op)) + ", ";
    text += std::string(name(call.dtype)) + ", " + std::to_string(call.count) +
            (call.count == 1 ? " element" : " elements");
    if (shape.has_root()) text += ", root " + std::to_string(call.root);
    text += ")";
  }
  const std::string purpose = name(call.purpose);
  return purpose.empty() ? text : text + " of " + purpose;
}

}  // namespace tensorplay::distributed
