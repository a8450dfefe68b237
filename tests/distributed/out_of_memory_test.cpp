// A rank that finds no memory in the midst of a collective: all are told, itself too.

#include "tests/distributed/expect_told.h"
#include "tests/distributed/told.h"

#include "lib/base/fault_point.h"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace tensorplay::distributed {
namespace {

// As operator new would, once, where all have arrived and the data are about to move.
void find_no_memory(const char* step) {
  if (std::string_view(step) != "operation.agreed") return;
  fault_handler = nullptr;
  throw std::bad_alloc();
}

// In an arrival's line, in a post slot, in one round and in many.
const std::vector<std::size_t> kCounts{1, 1'000, 10'000, 1'000'000};

BOOST_AUTO_TEST_SUITE(out_of_memory)

BOOST_DATA_TEST_CASE(in_a_collective_it_is_told_by_all_ranks, kCounts, count) {
  const auto result = run(3, [count = count](ProcessGroup& group) -> std::string {
    add_up(group, count, 2);
    if (group.rank() == 1) fault_handler = find_no_memory;
    return told(group, [&] { add_up(group, count, 1); });
  });
  const std::string words = "ran out of memory in all_reduce (sum, float32, " +
                            std::to_string(count) + (count == 1 ? " element" : " elements") +
                            "), operation 3";
  for (std::size_t rank = 0; rank < result.ranks.size(); ++rank) {
    std::string findings = result.ranks[rank].findings;
    // All that the others need of rank 1 may be there: it is their next call that tells.
    const std::string later = "nothing was thrown AND THEN ";
    if (rank != 1 && findings.starts_with(later)) findings.erase(0, later.size());
    BOOST_TEST(findings.starts_with("rank 1, raised: rank 1 (pid "), findings);
    BOOST_TEST(findings.ends_with(words), findings);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::distributed
