#include "lib/distributed/whereabouts.h"

#include "lib/base/seconds_text.h"
#include "lib/distributed/member_end.h"
#include "lib/distributed/posted_call.h"
#include "lib/sync/activity.h"
#include "lib/sync/arrival.h"
#include "lib/sync/join_board.h"
#include "lib/sync/liveness.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace tensorplay::distributed {
namespace {

using collectives::GroupMemory;

// Larger groups share lines.
constexpr int kLinesMax = 16;
// A wait that began less than this ago may not be told yet.
constexpr std::int64_t kJustNowNs = 10'000'000;

// The text about one member: what it does, for how long, and what it called last.
struct Account {
  std::string doing;
  std::optional<std::int64_t> duration_ns;
  std::string more;
};

std::string numbered(const std::string& what, std::uint64_t number) {
  return what + ", operation " + std::to_string(number);
}

std::string iterations_text(std::uint64_t iterations) {
  return std::to_string(iterations) + (iterations == 1 ? " iteration" : " iterations");
}

std::string waiting_in_operation(const GroupMemory& memory, int member,
                                 const sync::Waiting& waiting) {
  if (waiting.slot == memory.slot()) {
    return "waiting in " + described_call(memory, member, waiting.number) + ",";
  }
  return "waiting in " + numbered(name(waiting.kind), waiting.number) + " of another group,";
}

// What a living member does.
std::string doing(const GroupMemory& memory, const sync::JoinBoardReading& board, int member,
                  const sync::Waiting& waiting) {
  const std::string joined =
      board.joined ? "joined after " + iterations_text(board.iterations) + ", " : "";
  switch (waiting.doing) {
    case shm::Doing::operation:
      return joined + waiting_in_operation(memory, member, waiting);
    case shm::Doing::iteration:
      return joined + "waiting for iteration " + std::to_string(waiting.number) +
             " of the Join context,";
    case shm::Doing::joined:
      if (waiting.slot == memory.slot()) {
        return "joined after " + iterations_text(waiting.number) + ", waiting for the others,";
      }
      return joined + "waiting for the end of another group's Join context,";
    case shm::Doing::in_step:
      return joined + "in step, waiting for what the active ranks do next,";
    case shm::Doing::start:
      return "waiting for the other ranks to start,";
    case shm::Doing::user_code:
      break;
  }
  if (!joined.empty() || board.iterations == 0) return joined + "in user code";
  return "in user code, in iteration " + std::to_string(board.iterations) + ",";
}

// Whether it may be inside of its last call though it tells of no wait: it runs or is stopped, and
// the call isn't complete. It may as well have left the call to go on by itself: no word tells
// which. Whoever sleeps does so in user code, as the library's own sleeps are told.
bool may_be_inside(const GroupMemory& memory, int member, const sync::Waiting& waiting,
                   const std::string& process) {
  return waiting.doing == shm::Doing::user_code && process != "sleeping" &&
         sync::completed_number(memory.member(member)) < last_posted(memory.member(member));
}

// "; last call: barrier, operation 6", unless it has been told already.
std::string last_call(const GroupMemory& memory, int member, const sync::Waiting& waiting) {
  const std::uint64_t last = last_posted(memory.member(member));
  if (last == 0) return "; no call in this group yet";
  const bool told = waiting.doing == shm::Doing::operation && waiting.slot == memory.slot() &&
                    waiting.number == last;
  if (told) return "";
  const bool under_way = sync::completed_number(memory.member(member)) < last;
  return "; last call: " + described_call(memory, member, last) + (under_way ? ", under way" : "");
}

Account account_of_living(const GroupMemory& memory, const Membership& membership, int member,
                          std::int64_t now_ns) {
  const auto reading =
      sync::read_activity(memory.segment().rank_block(memory.world_rank(member)).activity);
  sync::JoinBoardReading board;
  if (membership.inside) {
    board = sync::read_board(sync::board_of(memory.member(member), membership.generation),
                             membership.generation);
  }
  const std::string process = sync::activity_of(memory.life(member));
  const bool stopped = process.starts_with("stopped");
  Account account;
  const std::int64_t duration_ns = std::max<std::int64_t>(0, now_ns - reading.since_ns);
  const std::uint64_t last = last_posted(memory.member(member));
  if (!stopped && reading.waiting == sync::Waiting{} && duration_ns < kJustNowNs &&
      sync::completed_number(memory.member(member)) < last) {
    return {"has just called " + described_call(memory, member, last), {}, ""};
  }
  account.duration_ns = duration_ns;
  account.doing = stopped ? process + "; " : "";
  if (may_be_inside(memory, member, reading.waiting, process)) {
    account.doing += "with " + described_call(memory, member, last) + ", under way,";
    if (!stopped && !process.empty()) account.more = " (" + process + ")";
    return account;
  }
  account.doing += doing(memory, board, member, reading.waiting);
  if (!stopped && !process.empty() && reading.waiting.doing == shm::Doing::user_code) {
    account.more = " (" + process + ")";
  }
  account.more += last_call(memory, member, reading.waiting);
  return account;
}

Account account_of(const GroupMemory& memory, const Membership& membership, int member,
                   std::int64_t now_ns) {
  const auto vitality = sync::vitality(memory.segment(), memory.world_rank(member));
  if (vitality == sync::Vitality::absent) return {"has not started", {}, ""};
  if (!sync::has_attached(memory.life(member))) {
    return {sync::end_of(memory.life(member)).text, {}, ""};
  }
  const bool has_left = sync::observe_departure(memory.member(member)) != shm::Departure::none;
  if (has_left || vitality != sync::Vitality::alive) {
    return {known_end_of_member(memory, member).text, {}, last_call(memory, member, {})};
  }
  return account_of_living(memory, membership, member, now_ns);
}

// Members of whom the same is true, but for the time.
struct Shared {
  Contributors members;
  Account account;  // of the first
  std::int64_t least_ns = 0;
  std::int64_t most_ns = 0;
};

std::string line_of(const GroupMemory& memory, const Shared& shared) {
  const bool alone = shared.members.count() == 1;
  std::string line =
      alone ? process_label(memory, shared.members.highest()) : to_string(shared.members);
  line += ": " + shared.account.doing;
  if (shared.account.duration_ns) {
    const std::string least = seconds_text(std::chrono::nanoseconds(shared.least_ns));
    const std::string most = seconds_text(std::chrono::nanoseconds(shared.most_ns));
    line += " for " + (least == most ? most : least + " to " + most) + " s";
  }
  return line + shared.account.more;
}

}  // namespace

std::string rank_label(const GroupMemory& memory, int member) {
  const std::string label = "rank " + std::to_string(member);
  if (memory.slot() == 0) return label;
  return label + " (rank " + std::to_string(memory.world_rank(member)) + " of the job)";
}

std::string process_label(const GroupMemory& memory, int member) {
  return rank_label(memory, member) + " (" + sync::process_label(memory.life(member)) + ")";
}

std::string described_call(const GroupMemory& memory, int member, std::uint64_t number) {
  const auto posted = posted_call(memory.member(member), number, memory.size());
  return numbered(posted ? describe(posted->call) : "a collective", number);
}

std::vector<std::string> whereabouts(const GroupMemory& memory, const Membership& membership,
                                     const Contributors& members) {
  const std::int64_t now_ns = sync::nanoseconds_of(CLOCK_MONOTONIC);
  std::vector<Shared> all;
  std::map<std::string, std::size_t> places;
  members.for_each([&](int member) {
    Account account = account_of(memory, membership, member, now_ns);
    const std::int64_t duration = account.duration_ns.value_or(0);
    const auto place = places.try_emplace(account.doing + account.more, all.size());
    if (members.count() > kLinesMax && !place.second) {
      Shared& shared = all[place.first->second];
      shared.members.insert(member);
      shared.least_ns = std::min(shared.least_ns, duration);
      shared.most_ns = std::max(shared.most_ns, duration);
      return;
    }
    all.push_back({{}, std::move(account), duration, duration});
    all.back().members.insert(member);
  });
  // What is true of few comes first, should there be too little room.
  std::ranges::stable_sort(all, {}, [](const Shared& shared) { return shared.members.count(); });
  std::vector<std::string> lines;
  for (const Shared& shared : all) lines.push_back(line_of(memory, shared));
  return lines;
}

std::string with_lines(std::string text, const std::vector<std::string>& lines,
                       const std::string& end) {
  constexpr std::size_t kRoom = sizeof(shm::FailureRecord::text) - 1;
  constexpr std::size_t kLastLine = 40;  // "and ... more lines"
  std::size_t told = 0;
  for (; told < lines.size(); ++told) {
    const bool last = told + 1 == lines.size();
    const std::size_t size = text.size() + 3 + lines[told].size() + 1 + end.size();
    if (size + (last ? 0 : kLastLine) > kRoom) break;
    text += "\n  " + lines[told];
  }
  if (told < lines.size()) {
    text += "\n  and " + std::to_string(lines.size() - told) + " more lines";
  }
  return end.empty() ? text : text + "\n" + end;
}

}  // namespace tensorplay::distributed
