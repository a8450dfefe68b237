// Many trials: a fault at every fault point that a victim passes, for scenarios, policies and world
// sizes.
#pragma once

#include "tests/faults/tally.h"
#include "tests/faults/trial.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tensorplay::faults {

class Campaign {
 public:
  // `seed` decides what is left to chance.
  explicit Campaign(std::uint64_t seed);

  // One trial for each fault point of the scenario, on victims and in worlds left to chance; or, if
  // $TENSORPLAY_FAULTS is "every", one for each time that each rank of each world passes one.
  void run(const Scenario& scenario, distributed::PeerFailurePolicy policy, Action action);
  // The same with two victims, the second one anywhere.
  void run_pairs(const Scenario& scenario, distributed::PeerFailurePolicy policy, Action action);

  // One line per trial that found something; "" if none did. After the first few the rest isn't
  // tried any more.
  const std::string& findings() const noexcept { return findings_; }
  Tally& tally() noexcept { return tally_; }

 private:
  struct Cast {
    int world_size;
    int victim;
  };

  std::uint64_t draw(std::uint64_t below);
  std::vector<Cast> casts();
  std::map<std::string, int> rehearse(const Scenario& scenario,
                                      distributed::PeerFailurePolicy policy, Cast cast);
  std::vector<int> passes_to_try(int passes);
  std::vector<Fault> faults_at(const std::map<std::string, int>& points, Cast cast, Action action);
  void try_one(const Trial& trial);

  std::uint64_t random_;
  bool every_;
  int failed_ = 0;
  std::string findings_;
  Tally tally_;
  Notebook notebook_;
  Notebook undisturbed_;
};

}  // namespace tensorplay::faults
