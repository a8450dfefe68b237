#include "tests/faults/verdict.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace tensorplay::faults {
namespace {

constexpr std::int64_t kToldWithin_ns = 5'000'000'000;  // generous: the contract says 100 ms
using distributed::PeerFailurePolicy;

std::uint64_t bit_of(int rank) {
  return std::uint64_t{1} << rank;
}

std::string ranks_text(std::uint64_t ranks) {
  distributed::Contributors set;
  for (int rank = 0; rank < Notebook::kRanksMax; ++rank) {
    if ((ranks & bit_of(rank)) != 0) set.insert(rank);
  }
  return to_string(set);
}

class Judge {
 public:
  Judge(const Trial& trial, const Notebook& notebook, const worlds::WorldResult& result)
      : trial_(trial), notebook_(notebook), result_(result) {}

  Verdict run() {
    find_victims();
    for (int rank = 0; rank < trial_.world_size; ++rank) {
      if (!is_victim(rank)) judge_end(rank);
    }
    collect();
    for (const auto& [place, by_rank] : entries_) judge_place(place, by_rank);
    judge_later_operations();
    verdict_.findings = found_.text();
    return verdict_;
  }

 private:
  using ByRank = std::map<int, const Entry*>;

  bool is_victim(int rank) const { return (victims_ & bit_of(rank)) != 0; }
  bool survives() const { return trial_.policy == PeerFailurePolicy::continue_without; }

  void find_victims() {
    for (int rank = 0; rank < trial_.world_size; ++rank) {
      const VictimRecord& record = notebook_.victim(rank);
      for (const Action action : kActions) {
        const auto count = static_cast<int>(record.struck[static_cast<std::size_t>(action)]);
        if (count > 0) verdict_.struck_by_action[name(action)] += count;
        verdict_.struck += count;
      }
      if (record.deadly == 0) continue;
      victims_ |= bit_of(rank);
      struck_at_ns_ = std::max(struck_at_ns_, record.struck_at_ns.load());
    }
  }

  void judge_end(int rank) {
    const worlds::RankOutcome& outcome = result_.ranks[static_cast<std::size_t>(rank)];
    const std::string label = "rank " + std::to_string(rank);
    if (!outcome.fine()) {
      found_.add(label + " (signal " + std::to_string(outcome.signal) + ", exit code " +
                 std::to_string(outcome.exit_code) + "): " + outcome.findings);
      return;
    }
    const Journal& journal = notebook_.journal(rank);
    if (journal.ended()) {
      ++verdict_.finished;
      return;
    }
    ++verdict_.told;
    if (journal.failure() == nullptr) return found_.add(label + " neither ended nor failed");
    judge_failure(label, *journal.failure());
  }

  // Under `raise`: the failure names a victim, its process and how it ended, in the same words
  // everywhere.
  void judge_failure(const std::string& label, const ToldFailure& failure) {
    const std::string text = failure.text.data();
    if (survives() || victims_ == 0) return found_.add(label + " was told: " + text);
    if (failure.rank < 0 || !names_culprit(text, failure.group)) {
      found_.add(label + " was told of another than the victim: " + text);
    }
    // Parts and the whole group fail apart, each in words of its own.
    const std::string& first = told_texts_.emplace(failure.group, text).first->second;
    found_.equal(text, first, "what " + label + " was told");
    judge_latency(label, failure.at_ns);
  }

  // A victim; or a survivor that gave up everything when another group of its failed. Ranks of a
  // part have other numbers in it, but the process is the same.
  bool names_culprit(const std::string& text, std::uint32_t group) const {
    for (int rank = 0; rank < trial_.world_size; ++rank) {
      const ToldFailure* failure = notebook_.journal(rank).failure();
      const bool culprit = is_victim(rank) || (failure != nullptr && failure->group != group);
      const std::string process = "pid " + std::to_string(notebook_.victim(rank).pid);
      if (culprit && text.find(process) != std::string::npos) return true;
    }
    return false;
  }

  void judge_latency(const std::string& label, std::int64_t at_ns) {
    const std::int64_t latency_ns = at_ns - struck_at_ns_;
    const bool earlier_victim = latency_ns < 0;
    if (earlier_victim || verdict_.struck_by_action.contains(name(Action::stop))) return;
    verdict_.latencies_ns.push_back(latency_ns);
    if (latency_ns > kToldWithin_ns) {
      found_.add(label + " went on only after " + std::to_string(latency_ns / 1'000'000) + " ms");
    }
  }

  void collect() {
    for (int rank = 0; rank < trial_.world_size; ++rank) {
      const Journal& journal = notebook_.journal(rank);
      for (std::size_t i = 0; i < journal.size(); ++i) {
        entries_[journal[i].place][rank] = &journal[i];
        if (!is_victim(rank)) ++verdict_.operations;
      }
    }
  }

  void judge_place(const Place& place, const ByRank& by_rank) {
    const Entry& first = *by_rank.begin()->second;
    for (const auto& [rank, entry] : by_rank) {
      if (is_same(*entry, first)) {
        continue;
      }
      found_.add(to_string(place) + ": rank " + std::to_string(by_rank.begin()->first) + " has " +
                 describe(first) + ", but rank " + std::to_string(rank) + " " + describe(*entry));
    }
    if (first.kind == Entry::Kind::report || first.kind == Entry::Kind::termination) ++contexts_;
    if (first.kind == Entry::Kind::report) return judge_deaths(place, first);
    if (first.kind == Entry::Kind::operation || first.kind == Entry::Kind::shadow) {
      judge_contributors(place, by_rank, first);
    }
  }

  static bool is_same(const Entry& a, const Entry& b) {
    const auto kind_of = [](const Entry& entry) {
      return entry.kind == Entry::Kind::shadow ? Entry::Kind::operation : entry.kind;
    };
    return kind_of(a) == kind_of(b) && a.ranks == b.ranks && a.value == b.value;
  }

  static std::string describe(const Entry& entry) {
    return std::string(name(entry.kind)) + " " + entry.what.data() + " over " +
           ranks_text(entry.ranks);
  }

  // All who live and took part contribute; who doesn't live may; nobody else does.
  void judge_contributors(const Place& place, const ByRank& by_rank, const Entry& first) {
    std::uint64_t required = 0;
    std::uint64_t forbidden = 0;
    for (int rank = 0; rank < trial_.world_size; ++rank) {
      const auto own = by_rank.find(rank);
      const bool active = own != by_rank.end() && own->second->kind == Entry::Kind::operation;
      if (active) required |= bit_of(rank);
      const bool may = active || is_victim(rank) || was_told(rank);
      if (!may) forbidden |= bit_of(rank);
    }
    if ((first.ranks & required) != required || (first.ranks & forbidden) != 0) {
      found_.add(to_string(place) + ": " + describe(first) + ", not over " + ranks_text(required) +
                 (victims_ == 0 ? "" : " and perhaps " + ranks_text(victims_)));
    }
  }

  bool was_told(int rank) const { return notebook_.journal(rank).failure() != nullptr; }

  // A victim that had joined the context counts as joined, any other one as dead.
  void judge_deaths(const Place& place, const Entry& report) {
    if ((report.ranks & ~victims_) != 0) {
      found_.add(to_string(place) + ": the report has deaths of " + ranks_text(report.ranks) +
                 ", but the victims are " + ranks_text(victims_));
    }
    if (!is_known_who_joined()) return;
    for (int rank = 0; rank < trial_.world_size; ++rank) {
      if (!is_victim(rank)) continue;
      const bool joined = notebook_.victim(rank).contexts_joined >= contexts_;
      const bool told = (report.ranks & bit_of(rank)) != 0;
      if (joined == told) {
        found_.add(to_string(place) + ": rank " + std::to_string(rank) +
                   (told ? " had joined, but the report has its death"
                         : " died before it joined, and the report lacks that"));
      }
    }
  }

  // Where a fault happens at a time it isn't; nor with parts, which have contexts of their own.
  bool is_known_who_joined() const {
    return entries_.rbegin()->first.group == 0 &&
           std::ranges::none_of(trial_.faults, [](const Fault& f) { return f.point.empty(); });
  }

  // Who was left out once stays out; in the finale exactly the living take part.
  void judge_later_operations() {
    for (int rank = 0; rank < trial_.world_size; ++rank) {
      if (is_victim(rank)) continue;
      const Journal& journal = notebook_.journal(rank);
      judge_monotony(rank, journal);
      judge_end_of_silence(rank, journal);
    }
  }

  // Groups of their own apart: in each of them a dead member is never seen again.
  void judge_monotony(int rank, const Journal& journal) {
    std::map<std::pair<std::uint32_t, int>, bool> gone;
    for (std::size_t i = 0; i < journal.size(); ++i) {
      const Entry& entry = journal[i];
      if (entry.kind != Entry::Kind::operation) continue;
      for (int victim = 0; victim < trial_.world_size; ++victim) {
        if (!is_victim(victim)) continue;
        const bool present = (entry.ranks & bit_of(victim)) != 0;
        bool& is_gone = gone[{entry.place.group, victim}];
        if (present && is_gone) {
          found_.add("rank " + std::to_string(rank) + " has rank " + std::to_string(victim) +
                     " back in " + to_string(entry.place));
        }
        // In a context who has joined is away, and back afterwards.
        is_gone = !present && entry.at_ns > notebook_.victim(victim).struck_at_ns;
      }
    }
  }

  // How long after the fault a survivor that goes on had its first result without the victims.
  void judge_end_of_silence(int rank, const Journal& journal) {
    if (!survives() || victims_ == 0) return;
    for (std::size_t i = 0; i < journal.size(); ++i) {
      const Entry& entry = journal[i];
      if (entry.at_ns < struck_at_ns_ || entry.kind != Entry::Kind::operation) continue;
      if ((entry.ranks & victims_) != 0) continue;
      return judge_latency("rank " + std::to_string(rank), entry.at_ns);
    }
  }

  const Trial& trial_;
  const Notebook& notebook_;
  const worlds::WorldResult& result_;
  std::uint64_t victims_ = 0;
  std::int64_t struck_at_ns_ = 0;
  std::uint32_t contexts_ = 0;  // so far, in the order of places
  std::map<std::uint32_t, std::string> told_texts_;
  std::map<Place, ByRank> entries_;
  worlds::Findings found_;
  Verdict verdict_;
};

}  // namespace

Verdict judge(const Trial& trial, const Notebook& notebook, const worlds::WorldResult& result) {
  return Judge(trial, notebook, result).run();
}

std::string compare_with_undisturbed(const Trial& trial, const Notebook& notebook,
                                     const Notebook& undisturbed) {
  worlds::Findings found;
  for (int rank = 0; rank < trial.world_size; ++rank) {
    const Journal& have = notebook.journal(rank);
    const Journal& want = undisturbed.journal(rank);
    const std::string label = "rank " + std::to_string(rank);
    found.equal(have.size(), want.size(), "the number of entries of " + label);
    for (std::size_t i = 0; i < std::min(have.size(), want.size()); ++i) {
      const bool same = have[i].place == want[i].place && have[i].kind == want[i].kind &&
                        have[i].ranks == want[i].ranks && have[i].value == want[i].value;
      if (!same) {
        found.add(label + ": " + to_string(have[i].place) + " is " + have[i].what.data() +
                  ", undisturbed it's " + to_string(want[i].place) + " " + want[i].what.data());
      }
    }
  }
  return found.text();
}

}  // namespace tensorplay::faults
