#include "tests/sync/exploration.h"

#include "tests/sync/stepped_job.h"

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tensorplay::sync {
namespace {

using StateId = std::uint32_t;

class Explorer {
 public:
  explicit Explorer(const JobPlan& plan) : job_(plan) { find(job_.save(), 0, 0); }

  Exploration run(std::size_t states_max) {
    Exploration result;
    for (StateId id = 0; id < states_.size() && result.finding.empty(); ++id) {
      result.finding = states_.size() > states_max ? "too many states" : visit(id);
    }
    result.state_count = states_.size();
    if (result.finding.empty()) result.finding = find_trap();
    return result;
  }

 private:
  struct Visited {
    const std::string* saved;
    StateId from;  // the state that it was first reached from, and by whose step
    int machine;
    std::vector<StateId> predecessors;
  };

  StateId find(std::string saved, StateId from, int machine) {
    const auto [entry, is_new] =
        ids_.emplace(std::move(saved), static_cast<StateId>(states_.size()));
    if (is_new) states_.push_back({&entry->first, from, machine, {}});
    return entry->second;
  }

  // Makes each machine's step from a state.
  std::string visit(StateId id) {
    const std::string& saved = *states_[id].saved;
    for (int machine = 0; machine < job_.machine_count(); ++machine) {
      job_.restore(saved);
      const std::string finding = job_.step(machine);
      if (!finding.empty()) return finding + way_to(id) + " " + std::to_string(machine);
      const StateId to = find(job_.save(), id, machine);
      if (to != id) states_[to].predecessors.push_back(id);
      if (job_.done()) final_ = to;
    }
    return "";
  }

  // Goes back from the end; what is left over can't get there.
  std::string find_trap() const {
    std::vector<bool> reaches(states_.size(), false);
    std::vector<StateId> open{final_};
    reaches[final_] = true;
    while (!open.empty()) {
      const StateId id = open.back();
      open.pop_back();
      for (const StateId before : states_[id].predecessors) {
        if (reaches[before]) continue;
        reaches[before] = true;
        open.push_back(before);
      }
    }
    for (StateId id = 0; id < states_.size(); ++id) {
      if (!reaches[id]) return "somebody waits for ever" + way_to(id);
    }
    return "";
  }

  std::string way_to(StateId id) const {
    std::string steps;
    for (; id != 0; id = states_[id].from) {
      steps = " " + std::to_string(states_[id].machine) + steps;
    }
    return "; after steps of machines" + steps;
  }

  SteppedJob job_;
  std::unordered_map<std::string, StateId> ids_;
  std::vector<Visited> states_;
  StateId final_ = 0;
};

}  // namespace

Exploration explore(const JobPlan& plan, std::size_t states_max) {
  return Explorer(plan).run(states_max);
}

}  // namespace tensorplay::sync
