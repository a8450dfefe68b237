#include "tests/sync/exploration.h"

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tensorplay::sync {
namespace {

using StateId = std::uint32_t;

class Explorer {
 public:
  explicit Explorer(Model& model) : model_(model) {
    find(model_.save(), 0, 0);
    final_.push_back(model_.done());
  }

  Exploration run(std::size_t states_max) {
    Exploration result;
    for (StateId id = 0; id < states_.size() && result.finding.empty(); ++id) {
      result.finding = states_.size() > states_max ? "too many states" : visit(id);
    }
    result.state_count = states_.size();
    result.step_count = step_count_;
    if (result.finding.empty()) result.finding = find_trap();
    return result;
  }

 private:
  struct Visited {
    const std::string* saved;
    StateId from;  // the state that it was first reached from, and by whose step
    int machine;
    std::vector<StateId> predecessors;  // by steps that aren't faults
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
    for (int machine = 0; machine < model_.machine_count(); ++machine) {
      model_.restore(saved);
      const std::string finding = model_.step(machine);
      ++step_count_;
      if (!finding.empty()) return finding + way_to(id) + " " + model_.machine_name(machine);
      const StateId to = find(model_.save(), id, machine);
      if (to == final_.size()) final_.push_back(model_.done());
      if (to != id && !model_.is_fault(machine)) states_[to].predecessors.push_back(id);
    }
    return "";
  }

  // Goes back from the ends; what is left over can't get to any.
  std::string find_trap() const {
    std::vector<bool> reaches = final_;
    std::vector<StateId> open;
    for (StateId id = 0; id < states_.size(); ++id) {
      if (final_[id]) open.push_back(id);
    }
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
      steps = " " + model_.machine_name(states_[id].machine) + steps;
    }
    return "; after" + steps;
  }

  Model& model_;
  std::unordered_map<std::string, StateId> ids_;
  std::vector<Visited> states_;
  std::vector<bool> final_;  // by state: whether it's an end
  std::size_t step_count_ = 0;
};

}  // namespace

Exploration explore(Model& model, std::size_t states_max) {
  return Explorer(model).run(states_max);
}

std::string to_string(const Exploration& exploration) {
  const std::string figures = std::to_string(exploration.state_count) + " states, " +
                              std::to_string(exploration.step_count) + " steps";
  return exploration.finding.empty() ? figures : figures + ": " + exploration.finding;
}

}  // namespace tensorplay::sync
