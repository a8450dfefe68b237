// Figures of many trials.
#pragma once

#include "tests/faults/trial.h"
#include "tests/faults/verdict.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tensorplay::faults {

// What many trials gave.
struct Tally {
  int trials = 0;
  std::map<std::string, int> struck;  // faults that happened, by action
  int missed = 0;                     // that didn't: the victim was never there
  int finished = 0;                   // survivors that did everything
  int told = 0;                       // survivors that threw PeerFailure
  std::int64_t operations = 0;        // of survivors, compared with the oracle and each other
  std::vector<std::int64_t> latencies_ns;
  std::set<std::string> points;  // where

  void add(const Trial& trial, const Verdict& verdict);
  std::string text();
};

}  // namespace tensorplay::faults
