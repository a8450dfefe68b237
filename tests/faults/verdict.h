// What a trial shows: whether the survivors told the same, and the right, story.
#pragma once

#include "tests/faults/trial.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tensorplay::faults {

struct Verdict {
  std::string findings;  // what is wrong; "" if nothing is
  int struck = 0;        // faults that happened
  std::map<std::string, int> struck_by_action;
  // How the survivors ended: with everything done, or with PeerFailure.
  int finished = 0;
  int told = 0;
  int operations = 0;  // entries of survivors that were compared
  // From the last deadly fault until each survivor threw, or completed an operation without the
  // victim: in order of rank. Not where a rank was stopped, for whom all wait.
  std::vector<std::int64_t> latencies_ns;
};

Verdict judge(const Trial& trial, const Notebook& notebook, const worlds::WorldResult& result);

// What differs between the journals of a trial whose victims were only stopped and those of an
// undisturbed one; "" if nothing does.
std::string compare_with_undisturbed(const Trial& trial, const Notebook& notebook,
                                     const Notebook& undisturbed);

}  // namespace tensorplay::faults
