#include "lib/base/cache_line.h"

#include <boost/test/unit_test.hpp>
#include <cstdint>

namespace tensorplay {
namespace {

struct TwoWriters {
  alignas(kSeparationBytes) std::uint32_t first;
  alignas(kSeparationBytes) std::uint32_t second;
};

BOOST_AUTO_TEST_SUITE(cache_line)

BOOST_AUTO_TEST_CASE(words_of_two_writers_never_share_a_pair_of_lines) {
  TwoWriters words{};
  const auto first = reinterpret_cast<std::uintptr_t>(&words.first);
  const auto second = reinterpret_cast<std::uintptr_t>(&words.second);
  BOOST_TEST(first / (2 * kLineBytes) != second / (2 * kLineBytes));
}

BOOST_AUTO_TEST_CASE(both_sizes_can_be_alignments) {
  BOOST_TEST((kLineBytes & (kLineBytes - 1)) == 0u);
  BOOST_TEST((kSeparationBytes & (kSeparationBytes - 1)) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay
