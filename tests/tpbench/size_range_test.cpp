// Sizes as people write them.

#include "tools/tpbench/size_range.h"
#include "tests/train/thrown_message.h"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

namespace tensorplay::tpbench {
namespace {

namespace data = boost::unit_test::data;
using Sizes = std::vector<std::size_t>;

BOOST_AUTO_TEST_SUITE(size_range)

BOOST_AUTO_TEST_CASE(a_range_goes_by_powers_of_four) {
  const Sizes sizes = parse_sizes("4:64Mi");
  BOOST_TEST(sizes.size() == 13u);
  BOOST_TEST(sizes.front() == 4u);
  BOOST_TEST(sizes[1] == 16u);
  BOOST_TEST(sizes.back() == std::size_t{64} << 20);
}

BOOST_AUTO_TEST_CASE(or_by_the_factor_that_is_given) {
  BOOST_TEST(parse_sizes("1Ki:8Ki:2") == (Sizes{1024, 2048, 4096, 8192}));
  BOOST_TEST(parse_sizes("10:1000:10") == (Sizes{10, 100, 1000}));
}

BOOST_AUTO_TEST_CASE(a_range_ends_below_an_end_that_it_does_not_meet) {
  BOOST_TEST(parse_sizes("4:100") == (Sizes{4, 16, 64}));
}

BOOST_AUTO_TEST_CASE(a_list_is_sorted_and_has_no_duplicates) {
  BOOST_TEST(parse_sizes("64Ki,8,1Ki,8") == (Sizes{8, 1024, 65536}));
  BOOST_TEST(parse_sizes("1MiB,3B") == (Sizes{3, 1048576}));
}

BOOST_DATA_TEST_CASE(what_is_no_size_is_refused,
                     data::make({"", "x", "0", "-4", "4x", "1,,2", "8:4", "4:64:1", "1:2:3:4",
                                 "5Gi", "18446744073709551616", "4:", "1.5Ki"}),
                     text) {
  const std::string message = train::thrown_message([&] { parse_sizes(text); });
  BOOST_TEST(message.starts_with("--sizes "), message);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::tpbench
