#include "lib/distributed/report.h"

#include "lib/base/seconds_text.h"
#include "lib/distributed/member_end.h"
#include "lib/distributed/posted_call.h"
#include "lib/distributed/whereabouts.h"
#include "lib/sync/arrival.h"
#include "lib/sync/join_board.h"
#include "lib/sync/liveness.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <thread>
#include <utility>
#include <vector>

namespace tensorplay::distributed {
namespace {

using collectives::GroupMemory;

// Calls before and after the one that the ranks disagree about.
constexpr std::uint64_t kCallsBefore = 4;
constexpr std::uint64_t kCallsAfter = 2;

std::string text_of(const shm::JoinBoard& board) {
  return std::string(board.config.data(), strnlen(board.config.data(), board.config.size()));
}

// The Join context that an arrival was made in.
std::string describe_context(const shm::MemberBlock& member, std::uint32_t context) {
  if (context == 0) return "outside of a Join context";
  for (const shm::JoinBoard& board : member.boards) {
    if (board.fingerprint != context) continue;
    return "in Join " + text_of(board);
  }
  return "in a disabled Join context";
}

// --- Mismatches ---

using Calls = std::vector<std::pair<int, PostedCall>>;  // by member

// What active members have called under that number.
Calls calls_at(const GroupMemory& memory, std::uint64_t number) {
  Calls calls;
  for (int m = 0; m < memory.size(); ++m) {
    const auto posted = posted_call(memory.member(m), number, memory.size());
    if (posted && !posted->shadow) calls.emplace_back(m, *posted);
  }
  return calls;
}

// Whether nobody who lives and takes part is still to call it.
bool all_have_called(const GroupMemory& memory, const Membership& membership,
                     std::uint64_t number) {
  for (int m = 0; m < memory.size(); ++m) {
    const shm::MemberBlock& member = memory.member(m);
    const bool counts =
        !membership.is_absent(m, number) &&
        !sync::observe_absence(member, number, membership.context_begin) &&
        sync::observe_departure(member) == shm::Departure::none &&
        sync::vitality(memory.segment(), memory.world_rank(m)) == sync::Vitality::alive;
    if (counts && last_posted(member) < number) return false;
  }
  return true;
}

// "in count: ranks 0, 2 pass 10, rank 1 passes 12"; "" if they don't differ in that.
std::string difference(const Calls& calls, const std::string& aspect, const std::string& verb,
                       const std::function<std::string(int, const PostedCall&)>& value) {
  std::map<std::string, Contributors> callers;
  for (const auto& [member, posted] : calls) callers[value(member, posted)].insert(member);
  if (callers.size() < 2) return "";
  std::string text = aspect;
  const char* separator = ": ";
  std::vector<std::pair<std::string, Contributors>> in_order(callers.begin(), callers.end());
  std::ranges::stable_sort(in_order, {},
                           [](const auto& entry) { return entry.second.ranks().front(); });
  for (const auto& [what, ranks] : in_order) {
    const bool one = ranks.count() == 1;
    text += separator + to_string(ranks) + " ";
    if (!verb.empty()) text += verb + (one ? (verb.ends_with("s") ? "es " : "s ") : " ");
    if (verb.empty()) text += one ? "is " : "are ";
    text += what;
    separator = ", ";
  }
  return text;
}

// The aspects in which the calls differ. Beside another kind of collective, the rest tells nothing.
std::vector<std::string> differences(const GroupMemory& memory, const Calls& calls) {
  const auto number_of = [](auto number) { return std::to_string(number); };
  std::vector<std::string> found{
      difference(calls, "collective", "call",
                 [](int, const PostedCall& p) { return std::string(name(p.call.kind)); })};
  if (found.front().empty()) {
    found = {difference(calls, "element type", "pass",
                        [](int, const PostedCall& p) { return std::string(name(p.call.dtype)); }),
             difference(calls, "count", "pass",
                        [&](int, const PostedCall& p) { return number_of(p.call.count); }),
             difference(calls, "reduction", "pass",
                        [](int, const PostedCall& p) { return std::string(name(p.call.op)); }),
             difference(calls, "root", "pass",
                        [&](int, const PostedCall& p) { return number_of(p.call.root); }),
             difference(calls, "place of the result in the segment", "pass",
                        [&](int, const PostedCall& p) { return number_of(p.place); })};
  }
  found.push_back(difference(calls, "Join context", "", [&](int m, const PostedCall& p) {
    return describe_context(memory.member(m), p.context);
  }));
  std::erase(found, "");
  return found;
}

// "1-3: barrier; 4: all_reduce (sum, float32, 4 elements)": equal calls in a row are told once.
std::string history(const GroupMemory& memory, int member, std::uint64_t number) {
  const std::uint64_t first = number > kCallsBefore ? number - kCallsBefore : 1;
  std::string text;
  std::uint64_t begin = first;
  for (std::uint64_t n = first; n <= number + kCallsAfter; ++n) {
    const auto posted = posted_call(memory.member(member), n, memory.size());
    const auto next = posted_call(memory.member(member), n + 1, memory.size());
    if (!posted) {
      begin = n + 1;
      continue;
    }
    const bool goes_on = next && n < number + kCallsAfter && n != number && n + 1 != number &&
                         describe(next->call) == describe(posted->call);
    if (goes_on) continue;
    text += (text.empty() ? "" : "; ") + std::to_string(begin) +
            (begin == n ? "" : "-" + std::to_string(n)) + ": " + describe(posted->call);
    begin = n + 1;
  }
  return text.empty() ? "no call yet" : text;
}

// One line for the members with the same last calls.
std::vector<std::string> histories(const GroupMemory& memory, std::uint64_t number) {
  std::vector<std::pair<std::string, Contributors>> callers;
  for (int m = 0; m < memory.size(); ++m) {
    const std::string calls = history(memory, m, number);
    const auto place =
        std::ranges::find(callers, calls, &std::pair<std::string, Contributors>::first);
    auto& entry = place == callers.end() ? callers.emplace_back(calls, Contributors{}) : *place;
    entry.second.insert(m);
  }
  std::vector<std::string> lines;
  for (const auto& [calls, ranks] : callers) lines.push_back(to_string(ranks) + ": " + calls);
  return lines;
}

Contributors all_but(const GroupMemory& memory, int member) {
  Contributors members;
  for (int m = 0; m < memory.size(); ++m) {
    if (m != member) members.insert(m);
  }
  return members;
}

// "Its last call: barrier, operation 6. "
std::string last_call_of(const GroupMemory& memory, int member) {
  const std::uint64_t last = last_posted(memory.member(member));
  if (last == 0) return "It had made no call yet. ";
  return "Its last call: " + described_call(memory, member, last) + ". ";
}

// With what the others are doing.
Failure failure_of(const GroupMemory& memory, const Membership& membership, int member,
                   PeerFailure::Cause cause, const std::string& text) {
  const Contributors others = all_but(memory, member);
  const std::vector<std::string> lines = whereabouts(memory, membership, others);
  return {shm::FailureKind::peer_failure, member, cause,
          lines.empty() ? text : with_lines(text + ". The others:", lines, ""),
          sync::pid_of(memory.life(member))};
}

// How far the awaited ones are: ", which is missing from it".
std::string standing(const GroupMemory& memory, const Contributors& awaited, std::uint64_t number) {
  if (number == 0) return "";
  Contributors missing;
  awaited.for_each([&](int member) {
    if (last_posted(memory.member(member)) < number) missing.insert(member);
  });
  const char* verb = awaited.count() == 1 ? "is" : "are";
  if (missing == awaited) return std::string(", which ") + verb + " missing from it";
  if (missing.empty()) return std::string(", which ") + verb + " in it and not done";
  return "; missing from it: " + to_string(missing);
}

}  // namespace

std::string describe_mismatch(const GroupMemory& memory, const Membership& membership,
                              std::uint64_t number) {
  constexpr std::chrono::milliseconds kInterval{1};
  for (int i = 0; i < 20 && !all_have_called(memory, membership, number); ++i) {
    std::this_thread::sleep_for(kInterval);
  }
  std::string text = "the ranks disagree about operation " + std::to_string(number) +
                     " of the group: they differ in ";
  const std::vector<std::string> aspects = differences(memory, calls_at(memory, number));
  for (std::size_t i = 0; i < aspects.size(); ++i) text += (i == 0 ? "" : "; in ") + aspects[i];
  const bool contexts = !aspects.empty() && aspects.back().starts_with("Join context");
  return with_lines(text + ". The last operations of each:", histories(memory, number),
                    contexts ? "Enter the same contexts, with the same Joinables, flags and "
                               "arguments, on all ranks"
                             : "All ranks must call the same collectives in the same order");
}

Failure lost_root(const GroupMemory& memory, int root, const std::string& what,
                  const Contributors& others) {
  const MemberEnd end = end_of_member(memory, root);
  return {shm::FailureKind::peer_failure,
          root,
          end.cause,
          what + ": the root, " + process_label(memory, root) + ", " + end.text +
              "; still there: " + to_string(others) + ". Choose one of these as the root",
          sync::pid_of(memory.life(root)),
          end.status};
}

Failure peer_failure(const GroupMemory& memory, const Membership& membership, int member,
                     const AwaitedEvent& event) {
  const MemberEnd end = end_of_member(memory, member);
  const std::string text = process_label(memory, member) + " " + end.text +
                           ", while the group waited for it " + event.where + ". " +
                           last_call_of(memory, member) + end.remedy;
  Failure failure = failure_of(memory, membership, member, end.cause, text);
  failure.status = end.status;
  return failure;
}

Failure start_failure(const GroupMemory& memory, const Membership& membership, int member) {
  const MemberEnd end = end_of_member(memory, member);
  // Without a place it has come only if it could say itself why it found none.
  const bool came =
      sync::has_attached(memory.life(member)) || end.cause == PeerFailure::Cause::raised;
  const std::string text =
      came ? process_label(memory, member) + " " + end.text +
                 " in init_process_group, before all ranks of the job had started"
           : rank_label(memory, member) + " has not come to init_process_group: it " + end.text;
  Failure failure = failure_of(memory, membership, member, end.cause, text);
  failure.status = end.status;
  return failure;
}

Failure raised_failure(const GroupMemory& memory, const Membership& membership,
                       const std::string& how) {
  const int self = memory.self();
  return failure_of(memory, membership, self, PeerFailure::Cause::raised,
                    process_label(memory, self) + " " + how);
}

Failure context_mismatch(const GroupMemory& memory, std::uint64_t generation) {
  std::map<std::string, Contributors> owners;
  for (int m = 0; m < memory.size(); ++m) {
    const shm::JoinBoard& board = sync::board_of(memory.member(m), generation);
    const sync::JoinBoardReading reading = sync::read_board(board, generation);
    if (reading.entered || reading.passed) owners[text_of(board)].insert(m);
  }
  std::vector<std::string> lines;
  for (const auto& [text, ranks] : owners) lines.push_back(to_string(ranks) + ": " + text);
  return {shm::FailureKind::mismatch, -1, PeerFailure::Cause::exited,
          with_lines("the ranks' Join contexts differ:", lines,
                     "Pass the same Joinables, flags and arguments on all ranks")};
}

Failure timeout_failure(const GroupMemory& memory, const Membership& membership,
                        const Contributors& awaited, const AwaitedEvent& event,
                        std::chrono::nanoseconds waited) {
  const std::string text = rank_label(memory, memory.self()) + " waited " + seconds_text(waited) +
                           " s " + event.where + ", for " + to_string(awaited) +
                           standing(memory, awaited, event.number) + ". The ranks:";
  return {
      shm::FailureKind::timeout, awaited.highest(), PeerFailure::Cause::exited,
      with_lines(text, whereabouts(memory, membership, all_but(memory, -1)),
                 "Find out what " + to_string(awaited) + (awaited.count() == 1 ? " does" : " do") +
                     " instead, or raise " + event.limit)};
}

}  // namespace tensorplay::distributed
