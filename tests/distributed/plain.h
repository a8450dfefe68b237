// The text of a failure without what differs from run to run.
#pragma once

#include "tests/worlds/worlds.h"

#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <regex>
#include <string>
#include <utility>

namespace tensorplay::distributed {

// "pid 4711" becomes "pid P", "1.5 s" and "1.4 to 1.5 s" become "T s", "(sleeping)" becomes
// "(state)"; and who waited first is nobody in particular.
inline std::string plain(std::string text) {
  const std::pair<const char*, const char*> rules[] = {
      {"pid [0-9]+", "pid P"},
      {"([0-9]+\\.[0-9] to )?[0-9]+\\.[0-9] s", "T s"},
      {"\\((running|sleeping|waiting for a device)\\)", "(state)"},
      {"Timeout: rank [0-9]+ (\\(rank [0-9]+ of the job\\) )?waited", "Timeout: a rank waited"}};
  for (const auto& [pattern, words] : rules) {
    text = std::regex_replace(text, std::regex(pattern), words);
  }
  return text;
}

// All ranks but `silent` (-1 for none) report this.
inline void expect_all_say(const worlds::WorldResult& result, const std::string& text,
                           int silent = -1) {
  for (std::size_t rank = 0; rank < result.ranks.size(); ++rank) {
    if (static_cast<int>(rank) == silent) continue;
    BOOST_TEST_CONTEXT("rank " << rank) {
      BOOST_TEST(result.ranks[rank].reported);
      BOOST_TEST(plain(result.ranks[rank].findings) == text);
    }
  }
}

// The same text, to the last digit.
inline void expect_all_say_the_same(const worlds::WorldResult& result, std::size_t silent) {
  const std::size_t first = silent == 0 ? 1 : 0;
  for (std::size_t rank = 0; rank < result.ranks.size(); ++rank) {
    if (rank == silent) continue;
    BOOST_TEST(result.ranks[rank].findings == result.ranks[first].findings);
  }
}

}  // namespace tensorplay::distributed
