#include "tests/distributed/expect_told.h"

#include <boost/test/unit_test.hpp>

namespace tensorplay::distributed {

using worlds::World;
using worlds::WorldResult;

WorldResult run(int world_size, const worlds::RankBody& body, const worlds::WorldOptions& options) {
  return run_world(World::forked_processes, world_size, body, options);
}

void expect_told(const WorldResult& result, std::size_t failed,
                 const std::vector<std::string>& words) {
  const std::string& first = result.ranks[failed == 0 ? 1 : 0].findings;
  for (std::size_t rank = 0; rank < result.ranks.size(); ++rank) {
    if (rank == failed) continue;
    const auto& outcome = result.ranks[rank];
    BOOST_TEST_CONTEXT("rank " << rank << ": " << outcome.findings) {
      BOOST_TEST(outcome.reported);
      BOOST_TEST(outcome.findings == first);
      for (const std::string& word : words) {
        BOOST_TEST((outcome.findings.find(word) != std::string::npos), "lacks " << word);
      }
      const auto later = outcome.ended_after - result.ranks[failed].ended_after;
      BOOST_TEST((later < kSoon), std::chrono::duration<double>(later).count() << " s later");
    }
  }
}

}  // namespace tensorplay::distributed
