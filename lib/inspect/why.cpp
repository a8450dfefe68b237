#include "lib/inspect/why.h"

#include "lib/base/seconds_text.h"

#include <tensorplay/distributed/contributors.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace tensorplay::inspect {
namespace {

using distributed::Contributors;

std::string call_text(const CallView& call) {
  // "all_reduce (sum, ...)": the number stands behind the name.
  const std::size_t space = call.text.find(" (");
  const std::string name = call.text.substr(0, space);
  const std::string rest = space == std::string::npos ? "" : call.text.substr(space);
  const std::string group = call.group == 0 ? "" : " of group " + std::to_string(call.group);
  return name + " #" + std::to_string(call.number) + group + rest;
}

std::string for_seconds(std::chrono::nanoseconds duration) {
  return "for " + seconds_text(duration) + " s";
}

std::string last_call_text(const RankView& rank) {
  if (!rank.last) return "it has called no collective yet";
  return "its last call was " + call_text(*rank.last);
}

std::string process_text(const RankView& rank) {
  return rank.process.empty() ? "" : " (" + rank.process + ")";
}

// What somebody who is waited for does: a clause after "rank 2, which ".
std::string instead(const RankView& rank) {
  const std::string since = rank.duration ? " " + for_seconds(*rank.duration) : "";
  switch (rank.state) {
    case RankState::not_started:
      return "hasn't started";
    case RankState::computing:
      return "has been in user code" + since + process_text(rank) + "; " + last_call_text(rank);
    case RankState::stopped:
      return "is " + rank.process + "; " + last_call_text(rank);
    case RankState::ended:
      return rank.end + "; " + last_call_text(rank);
    case RankState::waiting:
      if (rank.waits_in) return "waits in " + call_text(*rank.waits_in) + since;
      return "waits for iteration " + std::to_string(rank.waits_for_iteration) +
             " of its Join context" + since;
    case RankState::starting:
      return "waits for others to start" + since;
    case RankState::joined:
      return "has joined" + since + " and waits for the others to join";
    case RankState::in_step:
      return "has joined and follows the active ranks";
  }
  return "is in no state that can be";
}

// What is waited for, and by whom: those who wait for the same have one sentence.
struct Wait {
  Contributors ranks;
  std::chrono::nanoseconds longest{};
  std::vector<int> awaited;
  std::string where;
};

std::string where_of(const RankView& rank) {
  if (rank.state == RankState::starting) return "for the job to start";
  if (rank.waits_in) return "in " + call_text(*rank.waits_in);
  return "for iteration " + std::to_string(rank.waits_for_iteration) + " of a Join context";
}

std::vector<Wait> waits_of(const JobView& job) {
  std::map<std::pair<std::string, std::vector<int>>, Wait> waits;
  for (const RankView& rank : job.ranks) {
    if (rank.state != RankState::waiting && rank.state != RankState::starting) continue;
    // Those who wait for the same wait for each other's missing ones, too.
    Wait& wait = waits[{where_of(rank), rank.waits_for}];
    wait.ranks.insert(rank.rank);
    wait.longest = std::max(wait.longest, rank.duration.value_or(std::chrono::nanoseconds(0)));
    wait.awaited = rank.waits_for;
    wait.where = where_of(rank);
  }
  std::vector<Wait> all;
  for (auto& [key, wait] : waits) all.push_back(std::move(wait));
  std::ranges::stable_sort(all, std::ranges::greater(), &Wait::longest);
  return all;
}

std::string awaited_text(const JobView& job, const std::vector<int>& awaited) {
  constexpr std::size_t kToldOneByOne = 4;
  if (awaited.size() > kToldOneByOne) {
    Contributors ranks;
    for (const int rank : awaited) ranks.insert(rank);
    return to_string(ranks);
  }
  std::string text;
  for (const int rank : awaited) {
    const RankView& view = job.ranks[static_cast<std::size_t>(rank)];
    text += (text.empty() ? "" : ", and for ") + std::string("rank ") + std::to_string(rank) +
            ", which " + instead(view);
  }
  return text;
}

std::string sentence(const JobView& job, const Wait& wait) {
  const bool alone = wait.ranks.count() == 1;
  std::string text = to_string(wait.ranks) + (alone ? " waits " : " wait ") + wait.where + ", " +
                     for_seconds(wait.longest) + ", ";
  if (wait.awaited.empty()) return text + "where all have arrived: the data are on their way";
  return text + "for " + awaited_text(job, wait.awaited);
}

Contributors in_state(const JobView& job, RankState state) {
  Contributors ranks;
  for (const RankView& rank : job.ranks) {
    if (rank.state == state) ranks.insert(rank.rank);
  }
  return ranks;
}

std::string joined_sentence(const JobView& job) {
  Contributors joined = in_state(job, RankState::joined);
  in_state(job, RankState::in_step).for_each([&](int rank) { joined.insert(rank); });
  if (joined.empty()) return "";
  return to_string(joined) +
         (joined.count() == 1 ? " has joined and waits" : " have joined and wait") +
         " for the others to run out of inputs";
}

// Who is in nobody's way: ends and stops that no sentence about a wait has told.
void add_ends(const JobView& job, std::vector<std::string>& sentences) {
  for (const RankView& rank : job.ranks) {
    const std::string who = "rank " + std::to_string(rank.rank) + " ";
    if (rank.state == RankState::stopped) sentences.push_back(who + "is " + rank.process);
    if (rank.state == RankState::ended) sentences.push_back(who + rank.end);
  }
}

std::string paragraph_of(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) {
    const std::size_t begin = text.empty() ? 0 : text.size() + 1;
    text += (begin == 0 ? "" : " ") + sentence + ".";
    if (text[begin] >= 'a' && text[begin] <= 'z') text[begin] -= 'a' - 'A';
  }
  return text;
}

bool somebody_waits_for(const JobView& job, int rank) {
  return std::ranges::any_of(job.ranks, [rank](const RankView& other) {
    return std::ranges::find(other.waits_for, rank) != other.waits_for.end();
  });
}

}  // namespace

std::string why(const JobView& job) {
  std::vector<std::string> sentences;
  for (const std::string& failure : job.failures) {
    sentences.push_back("a group has failed: " + failure);
  }
  const std::vector<Wait> waits = waits_of(job);
  for (const Wait& wait : waits) sentences.push_back(sentence(job, wait));
  if (const std::string joined = joined_sentence(job); !joined.empty()) sentences.push_back(joined);
  if (waits.empty()) add_ends(job, sentences);
  const Contributors computing = in_state(job, RankState::computing);
  if (waits.empty() && !computing.empty()) {
    sentences.push_back("nobody waits: " + to_string(computing) +
                        (computing.count() == 1 ? " is" : " are") + " in user code");
  }
  return paragraph_of(sentences);
}

bool is_stuck(const JobView& job) {
  if (!job.failures.empty()) return true;
  return std::ranges::any_of(job.ranks, [&](const RankView& rank) {
    const bool helpless = rank.state == RankState::stopped || rank.state == RankState::ended;
    return helpless && somebody_waits_for(job, rank.rank);
  });
}

}  // namespace tensorplay::inspect
