#include "tests/tidy/checks.h"

#include <boost/test/unit_test.hpp>
#include <string>

namespace tensorplay::tidy {
namespace {

std::string findings_of(const std::string& path, const std::string& included) {
  return to_string(check_includes({path, "#include " + included + "\n"}));
}

bool is_allowed(const std::string& path, const std::string& included) {
  return findings_of(path, included).empty();
}

BOOST_AUTO_TEST_SUITE(checks_of_includes)

BOOST_AUTO_TEST_CASE(includes_down_the_layers_are_fine) {
  BOOST_TEST(is_allowed("lib/shm/a.cpp", "\"lib/base/b.h\""));
  BOOST_TEST(is_allowed("lib/shm/a.cpp", "\"lib/shm/b.h\""));
  BOOST_TEST(is_allowed("lib/nn/a.cpp", "\"lib/algorithms/b.h\""));
  BOOST_TEST(is_allowed("lib/base/a.cpp", "<tensorplay/error.h>"));
  BOOST_TEST(is_allowed("tools/train/a.cpp", "\"lib/nn/b.h\""));
  BOOST_TEST(is_allowed("tests/train/a.cpp", "\"tools/train/b.h\""));
  BOOST_TEST(is_allowed("tests/nn/a.cpp", "\"tests/worlds/b.h\""));
}

BOOST_AUTO_TEST_CASE(includes_up_or_sideways_are_found) {
  BOOST_TEST(!is_allowed("lib/base/a.h", "\"lib/shm/b.h\""));
  BOOST_TEST(!is_allowed("lib/sync/a.h", "\"lib/reduce/b.h\""));
  BOOST_TEST(!is_allowed("lib/reduce/a.h", "\"lib/sync/b.h\""));
  BOOST_TEST(!is_allowed("lib/distributed/a.h", "\"lib/algorithms/b.h\""));
  BOOST_TEST(!is_allowed("lib/optim/a.h", "\"lib/nn/b.h\""));
  BOOST_TEST(!is_allowed("lib/nn/a.h", "\"lib/unheard_of/b.h\""));
  BOOST_TEST(!is_allowed("lib/nn/a.h", "\"tools/train/b.h\""));
  BOOST_TEST(!is_allowed("lib/nn/a.h", "\"tests/worlds/b.h\""));
  BOOST_TEST(!is_allowed("tools/train/a.h", "\"tests/worlds/b.h\""));
}

BOOST_AUTO_TEST_CASE(public_headers_include_public_headers_only) {
  BOOST_TEST(!is_allowed("include/tensorplay/a.h", "\"lib/base/b.h\""));
  BOOST_TEST(!is_allowed("include/tensorplay/a.h", "<boost/test/unit_test.hpp>"));
  BOOST_TEST(!is_allowed("include/tensorplay/a.h", "<hwy/highway.h>"));
  BOOST_TEST(is_allowed("include/tensorplay/a.h", "<tensorplay/b.h>"));
  BOOST_TEST(is_allowed("include/tensorplay/a.h", "<vector>"));
}

BOOST_AUTO_TEST_CASE(boost_interprocess_is_for_one_folder) {
  const std::string included = "<boost/interprocess/mapped_region.hpp>";
  BOOST_TEST(is_allowed("lib/shm/a.cpp", included));
  BOOST_TEST(!is_allowed("lib/sync/a.cpp", included));
  BOOST_TEST(!is_allowed("tests/shm/a.cpp", included));
}

BOOST_AUTO_TEST_CASE(private_headers_are_spelled_from_the_top_in_quotes) {
  BOOST_TEST(!is_allowed("lib/shm/a.cpp", "\"b.h\""));
  BOOST_TEST(!is_allowed("lib/shm/a.cpp", "\"../base/b.h\""));
  BOOST_TEST(!is_allowed("lib/shm/a.cpp", "\"tensorplay/error.h\""));
  BOOST_TEST(!is_allowed("lib/shm/a.cpp", "<lib/base/b.h>"));
  BOOST_TEST(!is_allowed("lib/shm/a.cpp", "<include/tensorplay/error.h>"));
}

BOOST_AUTO_TEST_CASE(includes_in_comments_and_strings_do_not_count) {
  BOOST_TEST(to_string(check_includes(
                 {"lib/base/a.h", "// #include \"lib/nn/b.h\"\nR\"(\n#include \"b.h\"\n)\";\n"})) ==
             "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tensorplay::tidy
