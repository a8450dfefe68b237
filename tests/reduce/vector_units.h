// Runs a test on one vector unit after the other, whichever of them this CPU has.
#pragma once

#include <hwy/highway.h>

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <vector>

namespace tensorplay::reduce {

// Zero stands for the code that serves when a CPU has none of the units.
inline std::vector<std::int64_t> vector_units() {
  std::vector<std::int64_t> units = hwy::SupportedAndGeneratedTargets();
  units.push_back(0);
  return units;
}

// Calls body() with each unit chosen, and leaves the choice open as it was before.
template <typename Body>
void on_every_vector_unit(const Body& body) {
  for (const std::int64_t unit : vector_units()) {
    BOOST_TEST_CONTEXT("vector unit " << (unit == 0 ? "none" : hwy::TargetName(unit))) {
      hwy::GetChosenTarget().Update(unit);
      body();
    }
  }
  hwy::GetChosenTarget().DeInit();
}

}  // namespace tensorplay::reduce
